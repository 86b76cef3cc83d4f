import 'reflect-metadata';
import { createPrivateKey, createPublicKey, randomBytes, type webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Certificate, Validity } from '../../domains/domain/certificates/renewal.ts';
import type { CertificateOrder } from '../../domains/domain/certificates/certificate-status.ts';
import { newPrivateKey } from './issued-certificate.ts';
import { hourMs } from '../../kernel/durations.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };

/** Creates a DER request (RFC 2986). Uses alternative names, because a common name is limited to 64 characters. */
export const certificateRequest = async (
  names: readonly string[],
  privateKey: string,
): Promise<Buffer> => {
  const key = createPrivateKey(privateKey);
  const alternatives = names.map((value) => ({ type: 'dns', value }) as const);
  const request = await Pkcs10CertificateRequestGenerator.create({
    keys: {
      privateKey: key.toCryptoKey(algorithm, false, ['sign']),
      publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
    },
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [new SubjectAlternativeNameExtension(alternatives)],
  });
  return Buffer.from(request.rawData);
};

/**
 * Reads the certificate's id (RFC 9773, section 4.1).
 * @param chain PEM
 * @returns undefined if it is invalid or has no key identifier
 */
export const certificateId = (chain: string): string | undefined => {
  try {
    const leaf = new X509Certificate(chain);
    const keyId = leaf.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
    return keyId && `${base64url(keyId)}.${base64url(positive(leaf.serialNumber))}`;
  } catch {
    return undefined;
  }
};

const base64url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');

/** DER adds a zero byte if the first bit is set; the package leaves it out. */
const positive = (hex: string): string => (/^[89a-f]/i.test(hex) ? `00${hex}` : hex);

const lifeMs = 3650 * 24 * hourMs;

export interface RootPair {
  readonly certificate: string;
  readonly privateKey: string;
}

type SignedNames = Pick<CertificateOrder, 'host' | 'privateKey' | 'also'>;

export class LocalRoot {
  readonly #pair: RootPair;
  readonly #certificate: X509Certificate;
  readonly #key: webcrypto.CryptoKey;
  readonly #common;

  constructor(pair: RootPair) {
    this.#pair = pair;
    this.#certificate = new X509Certificate(pair.certificate);
    this.#key = signingKey(pair.privateKey);
    const { keyId } = this.#certificate.getExtension(SubjectKeyIdentifierExtension) ?? {};
    if (keyId === undefined) throw new Error('the root certificate names no key');
    this.#common = [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new AuthorityKeyIdentifierExtension(keyId),
    ];
  }

  get certificate(): string {
    return this.#pair.certificate;
  }

  get notAfter(): Date {
    return this.#certificate.notAfter;
  }

  async sign(
    { host, privateKey, also = [] }: SignedNames,
    { notBefore, notAfter }: Validity,
  ): Promise<Certificate> {
    const validity = { notBefore: wholeSecond(notBefore), notAfter: wholeSecond(notAfter) };
    const publicKey = publicKeyOf(privateKey);
    // The extension is critical, because the subject is empty: a common name is limited to 64 characters.
    const alternatives = [host, ...also].map((value) => ({ type: 'dns', value }) as const);
    const names = new SubjectAlternativeNameExtension(alternatives, true);
    const leaf = await X509CertificateGenerator.create({
      ...validity,
      issuer: this.#certificate.subjectName,
      publicKey,
      signingKey: this.#key,
      extensions: [names, ...this.#common, await SubjectKeyIdentifierExtension.create(publicKey)],
    });
    return { host, chain: `${leaf.toString('pem')}\n`, privateKey, ...validity };
  }
}

/** Creates a root that signs leaf certificates only. A random part in its name distinguishes installations. */
export const newRoot = async (now: Date): Promise<RootPair> => {
  const privateKey = await newPrivateKey();
  const publicKey = publicKeyOf(privateKey);
  const name = [{ CN: [`Animal Store local CA ${randomBytes(4).toString('hex')}`] }];
  const root = await X509CertificateGenerator.create({
    notBefore: wholeSecond(now.getTime() - hourMs),
    notAfter: wholeSecond(now.getTime() + lifeMs),
    subject: name,
    issuer: name,
    publicKey,
    signingKey: signingKey(privateKey),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { certificate: `${root.toString('pem')}\n`, privateKey };
};

const wholeSecond = (at: Date | number): Date => new Date(Math.floor(Number(at) / 1000) * 1000);

const publicKeyOf = (privateKey: string): Buffer =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'der' });

const signingKey = (pem: string): webcrypto.CryptoKey =>
  createPrivateKey(pem).toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);

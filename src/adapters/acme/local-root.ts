import 'reflect-metadata';
import { createPrivateKey, createPublicKey, randomBytes, type webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Certificate, Validity } from '../../domains/domain/certificates/renewal.ts';
import type { CertificateOrder } from '../../domains/domain/certificates/certificate-status.ts';
import { newPrivateKey } from './private-key.ts';

const hourMs = 3_600_000;
const lifeMs = 3650 * 24 * hourMs;

/** PEM; PKCS #8 for the key. */
export interface RootPair {
  readonly certificate: string;
  readonly privateKey: string;
}

type SignedNames = Pick<CertificateOrder, 'host' | 'privateKey' | 'also'>;

/** Signs leaf certificates (RFC 5280). */
export class LocalRoot {
  readonly #pair: RootPair;
  readonly #certificate: X509Certificate;
  readonly #key: webcrypto.CryptoKey;
  readonly #common;

  /** @throws Error when it is no root pair */
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

  /** With a random serial number of 128 bits. */
  async sign(
    { host, privateKey, also = [] }: SignedNames,
    { notBefore, notAfter }: Validity,
  ): Promise<Certificate> {
    const validity = { notBefore: wholeSecond(notBefore), notAfter: wholeSecond(notAfter) };
    const publicKey = publicKeyOf(privateKey);
    // A common name holds no more than 64 characters: the subject is empty, so its alternative is critical.
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

/** A root that signs leaves only. Its name has something random, to tell two installations apart. */
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

/** A certificate knows no fractions (RFC 5280, section 4.1.2.5). */
const wholeSecond = (at: Date | number): Date => new Date(Math.floor(Number(at) / 1000) * 1000);

const publicKeyOf = (privateKey: string): Buffer =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'der' });

const signingKey = (pem: string): webcrypto.CryptoKey =>
  createPrivateKey(pem).toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);

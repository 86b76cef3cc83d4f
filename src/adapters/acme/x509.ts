import 'reflect-metadata';
import { createPrivateKey, createPublicKey, hash } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  X509Certificate,
} from '@peculiar/x509';
import { LRUCache } from 'lru-cache';

// This file is loaded on first use: loading its package takes longer than most commands, which need no certificate.

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };

/**
 * For an ECDSA P-256 key (RFC 2986), DER. The names are only in the alternative names: a common
 * name holds no more than 64 characters.
 */
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
 * A certificate's name in requests (RFC 9773, section 4.1).
 * @param chain PEM, of which the first one counts
 * @returns undefined for a certificate that has none, or for no certificate
 */
export const certificateId = (chain: string): string | undefined => {
  const digest = hash('sha256', chain, 'base64');
  const id = knownIds.get(digest) ?? readId(chain);
  if (id !== undefined) knownIds.set(digest, id);
  return id;
};

/** An authority is asked about the same certificate every few hours, and reading one takes more than a millisecond. */
const knownIds = new LRUCache<string, string>({ max: 10_000 });

const readId = (chain: string): string | undefined => {
  try {
    const leaf = new X509Certificate(chain);
    const keyId = leaf.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
    return keyId && `${base64url(keyId)}.${base64url(positive(leaf.serialNumber))}`;
  } catch {
    return undefined;
  }
};

const base64url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');

/** A number is positive in DER when its first bit is 0; the package leaves out the byte that is there for that. */
const positive = (hex: string): string => (/^[89a-f]/i.test(hex) ? `00${hex}` : hex);

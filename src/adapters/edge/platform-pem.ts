import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { pairOf } from '../../domains/domain/own/own-name.ts';
import type { LoadedCertificate } from '../../domains/ports.ts';

/** What is in the two files. */
export interface PlatformPem {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate that cannot be used. The message says what would be right, and names no secret. */
export class UnusableCertificate extends Error {
  override readonly name = 'UnusableCertificate';
}

/**
 * The certificate for the names of the platform, as the operator gave it.
 * @throws UnusableCertificate
 */
export const readPlatformPem = (
  pem: PlatformPem,
  platformHost: string,
  now: Date,
): LoadedCertificate => {
  const blocks = certificatesIn(pem.certificate);
  const [leaf, ...issuers] = blocks.map(readCertificate);
  if (!leaf) throw ofCertificate('has no certificate; it must have one in PEM form');
  checkNames(leaf, platformHost);
  if (!leaf.checkPrivateKey(readKey(pem.key)))
    throw ofKey('is not the key of that certificate; give the one that it was requested with');
  checkChain(leaf, issuers);
  const [notBefore, notAfter] = [leaf.validFromDate, leaf.validToDate];
  if (notAfter <= now)
    throw ofCertificate(`expired at ${notAfter.toISOString()}; give a renewed one`);
  if (notBefore > now)
    throw ofCertificate(`begins only at ${notBefore.toISOString()}; give one that is valid now`);
  const { host } = pairOf(platformHost);
  return { host, chain: blocks.join('\n'), privateKey: () => pem.key, notBefore, notAfter };
};

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

const certificatesIn = (text: string): readonly string[] =>
  text
    .split(begin)
    .slice(1)
    .map((rest) => `${begin}${rest.split(end)[0] ?? ''}${end}`);

const readCertificate = (pem: string): X509Certificate => {
  try {
    return new X509Certificate(pem);
  } catch {
    throw ofCertificate('cannot be read; it must be PEM');
  }
};

const readKey = (pem: string): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch {
    throw ofKey('cannot be read; it must be a private key in PEM form, without a passphrase');
  }
};

/** The names must be alternative names: browsers ignore the common name. */
const checkNames = (leaf: X509Certificate, platformHost: string): void => {
  const { host, also } = pairOf(platformHost);
  const names = (leaf.subjectAltName ?? '').toLowerCase().split(', ');
  const missing = [...also, host].filter((name) => !names.includes(`dns:${name}`));
  if (missing.length > 0)
    throw ofCertificate(
      `is not for ${missing.join(' and ')}; it must be for ${[...also, host].join(' and ')}`,
    );
};

/** Each one is signed by the next; browsers decide whether to trust the last. */
const checkChain = (leaf: X509Certificate, issuers: readonly X509Certificate[]): void => {
  let issued = leaf;
  for (const issuer of issuers) {
    const isIssuer = issuer.ca && issued.checkIssued(issuer) && issued.verify(issuer.publicKey);
    if (!isIssuer)
      throw ofCertificate(
        'has certificates that do not sign each other; give your own first, then each that signed the one before',
      );
    issued = issuer;
  }
};

const ofCertificate = (problem: string) =>
  new UnusableCertificate(`PLATFORM_CERTIFICATE_FILE ${problem}.`);
const ofKey = (problem: string) => new UnusableCertificate(`PLATFORM_KEY_FILE ${problem}.`);

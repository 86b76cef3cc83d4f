import { createPrivateKey, generateKeyPair, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import type { Certificate } from '../../domains/domain/certificates/renewal.ts';
import type { CertificateOrder } from '../../domains/domain/certificates/certificate-status.ts';
import { AcmeFailure } from './acme-answers.ts';

const clockSkewMs = 5 * 60_000;

/** Checks that the certificate is valid now and matches the order. @throws AcmeFailure */
export const issuedCertificate = (
  order: CertificateOrder,
  text: string,
  now: Date,
): Certificate => {
  const { host, privateKey } = order;
  const names = namesOf(order);
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const [leaf, ...issuers] = blocks.map(readCertificate);
  if (!leaf) throw wrong('the answer contains no certificate');
  if (!isFor(leaf, names)) throw wrong(`it is not for ${names.join(' and ')} alone`);
  if (!leaf.checkPrivateKey(createPrivateKey(privateKey))) throw wrong('it does not match our key');
  checkChain(leaf, issuers);
  const validity = { notBefore: leaf.validFromDate, notAfter: leaf.validToDate };
  checkDates(validity, now);
  return { host, privateKey, chain: `${blocks.join('\n')}\n`, ...validity };
};

export const namesOf = ({ host, also = [] }: CertificateOrder): readonly string[] => [
  host,
  ...also,
];

const isFor = ({ subjectAltName = '' }: X509Certificate, names: readonly string[]): boolean =>
  subjectAltName.split(', ').toSorted().join() ===
  names
    .map((name) => `DNS:${name}`)
    .toSorted()
    .join();

const wrong = (what: string): AcmeFailure =>
  new AcmeFailure('unavailable', `The issued certificate cannot be used: ${what}.`);

const readCertificate = (pem: string): X509Certificate => {
  try {
    return new X509Certificate(pem);
  } catch {
    throw wrong('it cannot be read');
  }
};

const checkChain = (leaf: X509Certificate, issuers: readonly X509Certificate[]): void => {
  let issued = leaf;
  for (const issuer of issuers) {
    const isIssuer = issuer.ca && issued.checkIssued(issuer) && issued.verify(issuer.publicKey);
    if (!isIssuer) throw wrong('its chain is not in order');
    issued = issuer;
  }
};

const checkDates = (
  { notBefore, notAfter }: { notBefore: Date; notAfter: Date },
  now: Date,
): void => {
  if (notAfter <= notBefore) throw wrong('it ends before it begins');
  if (notBefore.getTime() > now.getTime() + clockSkewMs) {
    throw wrong(`it is not valid before ${notBefore.toISOString()}`);
  }
  if (notAfter <= now) {
    throw new AcmeFailure('order_gone', `Its certificate expired at ${notAfter.toISOString()}.`);
  }
};

/** @returns ECDSA P-256, PKCS #8, PEM */
export const newPrivateKey = async (): Promise<string> => {
  const { privateKey } = await promisify(generateKeyPair)('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return privateKey;
};

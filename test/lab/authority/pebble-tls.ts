import 'reflect-metadata';
import { KeyObject, randomUUID, webcrypto } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  BasicConstraintsExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { lastingFolder } from '../../support/service/lasting-folder.ts';

/** PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

let ofAuthorities: Promise<TlsPair & { readonly file: string }> | undefined;

/** Of all authorities that this process starts, with a file of the certificate: see `lastingFolder`. */
export const authoritiesTls = () => (ofAuthorities ??= newAuthoritiesTls());

const newAuthoritiesTls = async () => {
  const pair = await loopbackTls();
  const file = join(lastingFolder(), 'authorities.pem');
  await writeFile(file, pair.cert);
  return { ...pair, file };
};

/** For a server on loopback; the certificate is its own root. */
export const loopbackTls = (): Promise<TlsPair> => tlsFor('localhost');

/** The certificate is its own root, and is for 127.0.0.1 too if it is for localhost. */
export const tlsFor = async (host: string): Promise<TlsPair> => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    // Each has a name of its own, so that a client can trust several.
    name: `CN=${host}, OU=${randomUUID()}`,
    keys,
    signingAlgorithm: algorithm,
    // A client whose clock is months ahead shall trust it too.
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    extensions: [
      new BasicConstraintsExtension(true),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: host },
        ...(host === 'localhost' ? [{ type: 'ip', value: '127.0.0.1' } as const] : []),
      ]),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { cert: certificate.toString('pem'), key: String(key) };
};

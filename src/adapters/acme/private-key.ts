import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

/** ECDSA P-256, PKCS #8, PEM. */
export const newPrivateKey = async (): Promise<string> => {
  const { privateKey } = await promisify(generateKeyPair)('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return privateKey;
};

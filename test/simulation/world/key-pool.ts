import { createECDH, createHash, createPrivateKey } from 'node:crypto';

const made = new Map<number, string>();

/** The number-th P-256 private key, PKCS #8 PEM: the same in each run, so that nothing random is stored. */
export const poolKey = (number: number): string => {
  const known = made.get(number);
  if (known !== undefined) return known;
  const secret = createHash('sha256').update(`key ${number}`).digest();
  const key = createPrivateKey({ format: 'jwk', key: jwkOf(secret) });
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  made.set(number, pem);
  return pem;
};

/** RFC 7518, section 6.2. The public point is 4, then x and y of 32 bytes each. */
const jwkOf = (secret: Buffer) => {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(secret);
  const point = ecdh.getPublicKey();
  return {
    kty: 'EC',
    crv: 'P-256',
    d: secret.toString('base64url'),
    x: point.toString('base64url', 1, 33),
    y: point.toString('base64url', 33),
  };
};

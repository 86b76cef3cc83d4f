import { createHash, createHmac, createPublicKey, sign, type KeyObject } from 'node:crypto';

/** Who signs: an account, or, while there is none, only a key. ECDSA P-256. */
export interface Signer {
  readonly key: KeyObject;
  readonly accountUrl?: string;
}

interface Jwk {
  readonly crv: string;
  readonly kty: string;
  readonly x: string;
  readonly y: string;
}

/** What the authority gave an operator, to bind a new account to a contract (RFC 8555, section 7.3.4). */
export interface ExternalAccount {
  readonly kid: string;
  /** base64url */
  readonly hmac: string;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** In the order that its thumbprint demands (RFC 7638, section 3). */
const jwkOf = (key: KeyObject): Jwk => {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' }) as unknown as Jwk;
  return { crv, kty, x, y };
};

/**
 * Flattened JSON serialization (RFC 8555, section 6.2).
 * @param payload undefined for POST-as-GET
 */
export const signedRequest = (
  payload: object | undefined,
  { url, nonce }: { readonly url: string; readonly nonce: string },
  { key, accountUrl }: Signer,
): string => {
  const identity = accountUrl === undefined ? { jwk: jwkOf(key) } : { kid: accountUrl };
  const header = encode({ alg: 'ES256', ...identity, nonce, url });
  const body = payload === undefined ? '' : encode(payload);
  const signature = sign('sha256', Buffer.from(`${header}.${body}`), {
    key,
    dsaEncoding: 'ieee-p1363',
  });
  return JSON.stringify({
    protected: header,
    payload: body,
    signature: signature.toString('base64url'),
  });
};

/** The account's key, signed with what the operator was given. */
export const externalAccountBinding = (
  { kid, hmac }: ExternalAccount,
  key: KeyObject,
  url: string,
): object => {
  const header = encode({ alg: 'HS256', kid, url });
  const payload = encode(jwkOf(key));
  const signature = createHmac('sha256', Buffer.from(hmac, 'base64url'))
    .update(`${header}.${payload}`)
    .digest('base64url');
  return { protected: header, payload, signature };
};

/** What has to be published for a challenge (RFC 8555, section 8.1). */
export const keyAuthorization = (token: string, key: KeyObject): string =>
  `${token}.${createHash('sha256')
    .update(JSON.stringify(jwkOf(key)))
    .digest('base64url')}`;

import { createHash, createHmac, createPublicKey, sign } from 'node:crypto';
import type { AcmeAnswer } from './acme-http.ts';
import { isProblem } from './acme-problem.ts';
import type { AcmeTransport } from './acme-transport.ts';

/** Some authorities refuse good nonces now and then; a refusal always brings a new one. */
const tries = 6;

/** Who signs: an account, or, while there is none, only a key. */
export interface Signer {
  readonly url?: string;
  /** ECDSA P-256, PEM. */
  readonly privateKey: string;
}

/** What the authority gave an operator, to bind a new account to a contract (RFC 8555, section 7.3.4). */
export interface ExternalAccount {
  readonly kid: string;
  /** base64url */
  readonly hmac: string;
}

export interface SignedRequest {
  readonly url: string;
  /** Left out for POST-as-GET. */
  readonly payload?: object | undefined;
  readonly signer: Signer;
}

/**
 * Sends a request (RFC 8555, section 6.2).
 * @throws AcmeProblem, NoUsableAnswer
 */
export const postSigned = async (
  transport: AcmeTransport,
  { url, payload, signer }: SignedRequest,
  signal: AbortSignal,
): Promise<AcmeAnswer> => {
  const identity = signer.url === undefined ? { jwk: jwkOf(signer) } : { kid: signer.url };
  const key = { key: signer.privateKey, dsaEncoding: 'ieee-p1363' } as const;
  for (let left = tries - 1; ; left--) {
    const header = { alg: 'ES256', ...identity, nonce: await transport.takeNonce(signal), url };
    const body = JSON.stringify(jws(header, payload, (input) => sign('sha256', input, key)));
    try {
      return await transport.send({ method: 'POST', url, body }, signal);
    } catch (error) {
      if (left === 0 || !isProblem(error, 'badNonce')) throw error;
    }
  }
};

/** The account's key, signed with what the operator was given. @param url where the account is asked for */
export const externalAccountBinding = (
  { kid, hmac }: ExternalAccount,
  signer: Signer,
  url: string,
): object => {
  const key = Buffer.from(hmac, 'base64url');
  return jws({ alg: 'HS256', kid, url }, jwkOf(signer), (input) =>
    createHmac('sha256', key).update(input).digest(),
  );
};

/** What has to be published for a challenge (RFC 8555, section 8.1). */
export const keyAuthorization = (token: string, signer: Signer): string => {
  const thumbprint = createHash('sha256').update(JSON.stringify(jwkOf(signer)));
  return `${token}.${thumbprint.digest('base64url')}`;
};

/** In the order that its thumbprint demands (RFC 7638, section 3). */
const jwkOf = ({ privateKey }: Signer): object => {
  const { crv, kty, x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { crv, kty, x, y };
};

/** Flattened JSON serialization (RFC 7515, section 7.2.2). */
const jws = (
  header: object,
  payload: object | undefined,
  signatureOf: (input: Buffer) => Buffer,
): object => {
  const texts = [header, payload].map((value) =>
    Buffer.from(value ? JSON.stringify(value) : '').toString('base64url'),
  );
  const signature = signatureOf(Buffer.from(texts.join('.'))).toString('base64url');
  return { protected: texts[0], payload: texts[1], signature };
};

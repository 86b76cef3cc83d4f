import * as v from 'valibot';
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';

/** A refusal as the authority sends it (RFC 8555, section 6.7). */
export interface ProblemDocument {
  readonly type: string;
  readonly detail: string;
  readonly status: number;
}

/** The request was refused and changed nothing. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly problem: ProblemDocument;
  readonly retryAfterS: number | undefined;

  constructor(problem: ProblemDocument, retryAfterS?: number) {
    super(problem.detail);
    this.problem = problem;
    this.retryAfterS = retryAfterS;
  }
}

export const problemOf = (type: string, detail: string, status = 400): ProblemDocument => ({
  type,
  detail,
  status,
});

export const shownProblem = ({ type, ...of }: ProblemDocument) => ({
  ...of,
  type: `urn:ietf:params:acme:error:${type}`,
});

export const refuse = (type: string, detail: string, status = 400): never => {
  throw new Refused(problemOf(type, detail, status));
};

/** Flattened JSON serialization (RFC 7515, section 7.2.2). */
const envelope = v.strictObject({
  protected: v.string(),
  payload: v.string(),
  signature: v.string(),
});

const jwk = v.strictObject({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: v.string(),
  y: v.string(),
});

const header = v.strictObject({
  alg: v.literal('ES256'),
  nonce: v.string(),
  url: v.string(),
  kid: v.optional(v.string()),
  jwk: v.optional(jwk),
});

export interface SignedRequest {
  /** '' for POST-as-GET. */
  readonly payload: string;
  readonly key: AccountKey;
  /** URL of the account; undefined if the header contains the key instead. */
  readonly kid: string | undefined;
}

export interface AccountKey {
  readonly key: KeyObject;
  readonly thumbprint: string;
}

export interface Checks {
  readonly url: string;
  /** Whether the nonce is valid. The call uses it up. */
  readonly takeNonce: (nonce: string) => boolean;
  readonly keyOf: (kid: string) => AccountKey | undefined;
}

/** Checks what RFC 8555, section 6.2 requires of each signed request. @throws Refused */
export const readSignedRequest = (body: string | undefined, checks: Checks): SignedRequest => {
  const parsed = parsedBody(body);
  const { url, kid, jwk: given, nonce } = parsed.header;
  if ((kid === undefined) === (given === undefined)) {
    return refuse('malformed', 'The header has to name either a key or an account.');
  }
  const key = given ? keyOfJwk(given) : checks.keyOf(kid ?? '');
  if (!key) return refuse('accountDoesNotExist', `Account "${kid ?? ''}" not found`);
  const input = Buffer.from(`${parsed.protected}.${parsed.payload}`);
  const signature = Buffer.from(parsed.signature, 'base64url');
  if (!verify('sha256', input, { key: key.key, dsaEncoding: 'ieee-p1363' }, signature)) {
    return refuse('malformed', 'JWS verification error', 403);
  }
  if (!checks.takeNonce(nonce)) return refuse('badNonce', 'JWS has an invalid anti-replay nonce');
  if (url !== checks.url) {
    return refuse('unauthorized', 'The URL of the header is not that of the request', 403);
  }
  return { payload: Buffer.from(parsed.payload, 'base64url').toString(), key, kid };
};

const parsedBody = (body: string | undefined) => {
  try {
    const parts = v.parse(envelope, JSON.parse(body ?? ''));
    const text = Buffer.from(parts.protected, 'base64url').toString();
    return { ...parts, header: v.parse(header, JSON.parse(text)) };
  } catch {
    return refuse('malformed', 'The request is no JWS with ES256.');
  }
};

const keyOfJwk = ({ crv, kty, x, y }: v.InferOutput<typeof jwk>): AccountKey => {
  const ordered = { crv, kty, x, y };
  const thumbprint = createHash('sha256').update(JSON.stringify(ordered)).digest('base64url');
  try {
    return { key: createPublicKey({ key: ordered, format: 'jwk' }), thumbprint };
  } catch {
    return refuse('badPublicKey', 'The key is not on its curve.');
  }
};

/** Checks for POST-as-GET. @throws Refused */
export const readsOnly = (payload: string): void => {
  if (payload !== '') refuse('malformed', 'POST-as-GET requests must have an empty payload');
};

/** @throws Refused if the payload does not match the schema */
export const readPayload = <S extends v.GenericSchema>(
  schema: S,
  payload: string,
): v.InferOutput<S> => {
  try {
    return v.parse(schema, JSON.parse(payload));
  } catch {
    return refuse('malformed', 'The payload is not what this place takes');
  }
};

export interface AuthorityWeather {
  /** `refuses` connections, or is `silent` until the client gives up. */
  away: 'no' | 'refuses' | 'silent';
  /** The probability of each of these failures, per request. */
  failing: number;
  busy: number;
  refusesNonces: number;
  /** The connection breaks before the authority receives the request. */
  losesRequests: number;
  /** The connection breaks after the authority has acted. */
  losesAnswers: number;
  /** The network sends the request twice, and the client gets the second answer. */
  repeats: number;
  /** The authority refuses connections once it has taken an order. */
  leaves: boolean;
  /** Each request takes up to this long, half of it after the authority has acted. */
  slowMs: number;
  /** The Retry-After of a busy authority. */
  retryAfterS: number;
  /**
   * Whether a renewal outside of its window counts. Let's Encrypt's page does not say; Boulder counts it (wfe2,
   * validateReplacementOrder).
   */
  exemptsOnlyInWindow: boolean;
}

export const fairWeather: AuthorityWeather = {
  away: 'no',
  failing: 0,
  busy: 0,
  refusesNonces: 0,
  losesRequests: 0,
  losesAnswers: 0,
  repeats: 0,
  leaves: false,
  slowMs: 0,
  retryAfterS: 10,
  exemptsOnlyInWindow: false,
};

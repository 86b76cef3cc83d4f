import type { IncomingHttpHeaders } from 'node:http';
import * as v from 'valibot';
import type {
  AuthorityFailure,
  AuthorityFailureReason,
} from '../../domains/domain/certificates/certificate-status.ts';
import { hourMs } from '../../kernel/durations.ts';
import { Unavailable } from '../../kernel/ports.ts';

/** The authority was unreachable or sent an unusable answer. The message contains no secret. */
export class NoUsableAnswer extends Error {
  override readonly name = 'NoUsableAnswer';
}

export interface AcmeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const url = v.pipe(v.string(), v.startsWith('https://'));

const subproblem = v.object({
  type: v.optional(v.string(), 'about:blank'),
  detail: v.optional(v.string(), ''),
});

const problem = v.object({
  ...subproblem.entries,
  subproblems: v.optional(v.array(subproblem), []),
});

const directory = v.object({
  newNonce: url,
  newAccount: url,
  newOrder: url,
  renewalInfo: v.optional(url),
  meta: v.fallback(
    v.optional(
      v.object({
        externalAccountRequired: v.optional(v.boolean()),
        caaIdentities: v.optional(v.array(v.pipe(v.string(), v.toLowerCase()))),
        profiles: v.fallback(v.optional(v.record(v.string(), v.unknown())), undefined),
      }),
    ),
    undefined,
  ),
});

const order = v.object({
  status: v.picklist(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: v.array(url),
  finalize: url,
  certificate: v.optional(url),
  error: v.optional(problem),
});

const challenge = v.object({
  type: v.string(),
  url,
  status: v.picklist(['pending', 'processing', 'valid', 'invalid']),
  /** The token becomes part of a path, so only base64url is accepted. */
  token: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,512}$/))),
  error: v.optional(problem),
});

const authorization = v.object({
  status: v.picklist(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked']),
  challenges: v.array(challenge),
});

const time = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.transform((text) => new Date(text)),
);

const renewalInfo = v.object({ suggestedWindow: v.object({ start: time, end: time }) });

const schemas = { problem, directory, order, authorization, renewalInfo };

type Kind = keyof typeof schemas;
type Document<K extends Kind> = v.InferOutput<(typeof schemas)[K]>;

export type Directory = Document<'directory'>;
export type OrderDocument = Document<'order'>;
export type AuthorizationDocument = Document<'authorization'>;
type ProblemDocument = Document<'problem'>;

const longest = 64 * 1024;

/** @throws NoUsableAnswer if `text` is not such a document; the message never quotes it */
export const readDocument = <K extends Kind>(kind: K, text: string): Document<K> => {
  try {
    if (text.length > longest) throw new RangeError('too long');
    const parsed = v.safeParse(schemas[kind], JSON.parse(text));
    if (parsed.success) return parsed.output;
  } catch {
    // Handled below, like JSON of another shape.
  }
  throw new NoUsableAnswer(`The certificate authority's answer is not a valid ${kind} (RFC 8555).`);
};

/** A limit, so that a wrong header cannot block a host for years. */
const longestWaitMs = 8 * 24 * hourMs;

/** All other errors are the authority's fault or ours, never the customer's. */
const reasons: ReadonlyMap<string, AuthorityFailureReason> = new Map([
  ['rateLimited', 'rate_limited'],
  ['caa', 'caa'],
  ['dns', 'dns'],
  ['connection', 'challenge'],
  ['incorrectResponse', 'challenge'],
  ['tls', 'challenge'],
  ['unauthorized', 'challenge'],
  ['rejectedIdentifier', 'rejected_name'],
  ['unsupportedIdentifier', 'rejected_name'],
]);

export class AcmeFailure extends Error {
  override readonly name = 'AcmeFailure';
  readonly failure: AuthorityFailure;

  constructor(reason: AuthorityFailureReason, detail: string, retryAt?: Date) {
    super(detail);
    // The text is stored and shown, so it is shortened and its control characters are removed.
    const shown = detail.slice(0, 1000).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
    this.failure = { reason, detail: shown.trim(), retryAt };
  }
}

export const failureOf = (problem: ProblemDocument, now: Date, header?: string): AcmeFailure => {
  const candidates = [problem, ...problem.subproblems];
  const telling = candidates.find(({ type }) => reasons.has(shortType(type))) ?? problem;
  const reason = reasons.get(shortType(telling.type)) ?? 'unavailable';
  const detail = telling.detail || problem.detail || `The problem is ${shortType(telling.type)}.`;
  return failed(reason, detail, { now, header });
};

export const failureFrom = (error: unknown, now: Date): AuthorityFailure => {
  if (error instanceof AcmeFailure) return error.failure;
  if (error instanceof AcmeProblem) return requestFailure(error, now).failure;
  const isOurs = error instanceof NoUsableAnswer || error instanceof Unavailable;
  const kind = (error as Error | undefined)?.name ?? 'an error';
  const detail = isOurs ? error.message : `The request could not be made: ${kind}.`;
  return new AcmeFailure('unavailable', detail).failure;
};

const requestFailure = (problem: AcmeProblem, now: Date): AcmeFailure => {
  const { document, message, retryAfter: header } = problem;
  if (isRateLimit(problem)) return failed('rate_limited', message, { now, header });
  const cause = failureOf(document, now, header);
  const { reason, retryAt } = cause.failure;
  // For a challenge, this error concerns the customer's web server; for other requests, our account.
  return reason === 'challenge' ? new AcmeFailure('unavailable', message, retryAt) : cause;
};

const failed = (
  reason: AuthorityFailureReason,
  detail: string,
  { now, header }: { readonly now: Date; readonly header: string | undefined },
): AcmeFailure => {
  const otherwise = reason === 'rate_limited' ? now.getTime() + hourMs : undefined;
  const at = (retryAfter(header, now) ?? retryAtInText(detail))?.getTime() ?? otherwise;
  const most = now.getTime() + longestWaitMs;
  return new AcmeFailure(reason, detail, at === undefined ? at : new Date(Math.min(at, most)));
};

/** Boulder ends the text of a limit with `retry after 2026-01-31 12:00:00 UTC`. */
const retryAtInText = (detail: string): Date | undefined => {
  const [, day, time] = /retry after (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)/i.exec(detail) ?? [];
  if (day === undefined || time === undefined) return undefined;
  const at = new Date(`${day}T${time}Z`);
  return Number.isNaN(at.getTime()) ? undefined : at;
};

const namespace = 'urn:ietf:params:acme:error:';

const shortType = (type: string): string =>
  type.startsWith(namespace) ? type.slice(namespace.length) : type;

export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem';
  readonly status: number;
  readonly type: string;
  readonly document: ProblemDocument;
  readonly isDocumented: boolean;
  readonly retryAfter: string | undefined;

  constructor({ status, headers, body }: AcmeAnswer) {
    const document = problemOf(status, headers['content-type'], body);
    super(document.detail);
    this.status = status;
    this.type = shortType(document.type);
    this.document = document;
    this.isDocumented = document.type.startsWith(namespace);
    this.retryAfter = headers['retry-after'];
  }
}

const problemOf = (
  status: number,
  contentType: string | undefined,
  body: string,
): ProblemDocument => {
  const detail = `The certificate authority answered with the status ${status}.`;
  const unknown = { type: 'about:blank', detail, subproblems: [] };
  if (!contentType?.includes('json')) return unknown;
  try {
    const document = readDocument('problem', body);
    return document.detail === '' ? { ...document, detail } : document;
  } catch {
    return unknown;
  }
};

export const isProblem = (error: unknown, ...types: readonly string[]): error is AcmeProblem =>
  error instanceof AcmeProblem && types.includes(error.type);

/** Recognises rate limits, including a 429 from a proxy, which has no problem document (RFC 6585, section 4). */
export const isRateLimit = (error: unknown): boolean =>
  error instanceof AcmeProblem && (error.type === 'rateLimited' || error.status === 429);

const longestDate = 64;

/** Reads seconds or an HTTP date (RFC 9110, section 10.2.3). @returns undefined if the header is invalid */
export const retryAfter = (header: string | undefined, now: Date): Date | undefined => {
  if (header === undefined || header.length > longestDate) return undefined;
  const at = /^\d{1,10}$/.test(header)
    ? now.getTime() + Number(header) * 1000
    : Date.parse(/^[A-Z][a-z]+, /.test(header) ? header : '');
  return Number.isNaN(at) ? undefined : new Date(at);
};

export const waitMs = (
  header: string | undefined,
  now: Date,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number => {
  const at = retryAfter(header, now);
  if (at === undefined) return otherwise;
  return Math.min(Math.max(at.getTime() - now.getTime(), least), most);
};

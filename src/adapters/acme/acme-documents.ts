import type { IncomingHttpHeaders } from 'node:http';
import * as v from 'valibot';

/** The authority was unreachable or silent, or its answer is unusable. The message contains no secret. */
export class NoUsableAnswer extends Error {
  override readonly name = 'NoUsableAnswer';
}

export interface AcmeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Only what we use of each document (RFC 8555, section 7.1); the rest may be anything. */
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
  /** Optional fields: invalid values in them are ignored. */
  meta: v.fallback(
    v.optional(
      v.object({
        externalAccountRequired: v.optional(v.boolean()),
        caaIdentities: v.optional(v.array(v.pipe(v.string(), v.toLowerCase()))),
        /** Their names, and what they are (draft-ietf-acme-profiles). */
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
  /** It becomes part of a path: nothing but base64url may stand there. */
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
export type ProblemDocument = Document<'problem'>;

const longest = 64 * 1024;

/** @throws NoUsableAnswer when `text` is not such a document; the message never quotes it */
export const readDocument = <K extends Kind>(kind: K, text: string): Document<K> => {
  try {
    if (text.length > longest) throw new RangeError('too long');
    const parsed = v.safeParse(schemas[kind], JSON.parse(text));
    if (parsed.success) return parsed.output;
  } catch {
    // Refused below, like JSON of another shape.
  }
  throw new NoUsableAnswer(`The certificate authority's answer is not a valid ${kind} (RFC 8555).`);
};

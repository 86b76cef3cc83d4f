import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import Negotiator from 'negotiator';
import {
  idempotencyRetentionMs,
  longestIdempotencyKey,
  type IdempotencyKeys,
} from '../../../access/ports.ts';
import type { Caller } from '../../../access/use-cases/callers.ts';
import type { Acting, Clock, Deadline } from '../../../kernel/ports.ts';
import type { Answer } from '../answer.ts';
import { RequestError } from '../error-table.ts';
import { callerOf } from '../rate-limits.ts';
import type { RequestContext } from '../request-lifecycle.ts';
import type { Route } from '../request-handler.ts';
import type { Call, Operation } from './operation.ts';
import { parse, queryReader, readJsonBody } from './request-input.ts';

export interface RoutePorts {
  readonly idempotencyKeys: IdempotencyKeys;
  readonly acting: Acting;
  readonly clock: Clock;
  readonly deadline: Deadline;
  readonly baseUrl: string;
}

type Known = Omit<Call<unknown, unknown>, 'body'>;

/** The route of an operation. Its steps, in order: authenticate, authorise, parse, answer. */
export const operationRoute = (operation: Operation, ports: RoutePorts): Route => {
  const { baseUrl, clock } = ports;
  const readQuery = operation.query && queryReader(operation.query);
  return {
    method: operation.method,
    path: `/v1${operation.path}`,
    operation: operation.id,
    headers: removalHeaders(operation, baseUrl),
    answer: (context, parameters) => {
      const caller = callerOf(context);
      refuseRemoved(operation, baseUrl, clock.now());
      requireScope(caller, operation);
      requireJsonAccepted(context.request.headers);
      const known = { caller, parameters, query: readQuery?.(context.query) };
      return operation.body
        ? answerToBody(operation, context, known, ports)
        : operation.handle({ ...known, body: undefined });
    },
  };
};

/** On every answer of a deprecated operation: since when (RFC 9745), until when (RFC 8594), what instead. */
const removalHeaders = (
  { deprecation }: Operation,
  baseUrl: string,
): Readonly<Record<string, string>> => {
  if (!deprecation) return {};
  const { since, sunset, successor } = deprecation;
  return {
    Deprecation: `@${String(Math.floor(since.getTime() / 1000))}`,
    Sunset: sunset.toUTCString(),
    Link: `<${baseUrl}${successor}>; rel="successor-version"`,
  };
};

const answerToBody = async (
  operation: Operation,
  { request }: RequestContext,
  known: Known,
  { idempotencyKeys, acting, clock, deadline }: RoutePorts,
): Promise<Answer> => {
  // The time to receive the body does not count against the request's deadline.
  const { text, value } = await deadline.apart(() => readJsonBody(request));
  const body = operation.body && parse(operation.body, value, 'validation_failed');
  const { keyId, accountId } = known.caller;
  const handle = () => acting.run(`key:${keyId}`, () => operation.handle({ ...known, body }));
  const key = request.headers['idempotency-key'];
  if (!operation.idempotent || key === undefined) return handle();
  const once = { key: String(key), accountId, sent: `${operation.id}\n${text}` };
  return answerOnce(idempotencyKeys, once, clock.now(), handle);
};

/** @throws RequestError `operation_removed` */
const refuseRemoved = (
  { deprecation }: Pick<Operation, 'deprecation'>,
  baseUrl: string,
  now: Date,
): void => {
  if (!deprecation || now < deprecation.sunset) return;
  const day = deprecation.sunset.toISOString().slice(0, 10);
  throw new RequestError(
    'operation_removed',
    `This operation was removed on ${day}. Use GET ${baseUrl}${deprecation.successor} instead.`,
  );
};

/** @throws RequestError `insufficient_scope` */
const requireScope = (caller: Caller, { scope, id }: Operation): void => {
  if (caller.scopes.includes(scope)) return;
  throw new RequestError(
    'insufficient_scope',
    `${id} needs a key with the scope ${scope}; this key has ${caller.scopes.join(', ')}.`,
  );
};

/** Our media type without parameters, because content negotiation treats a type with parameters as another one. */
const accepted = ['application/json', 'application/json; charset=utf-8'];

/** Characters; browsers send some two hundred. Quoted commas make the library very slow. */
const longestAccept = 1024;

/** @throws RequestError `not_acceptable` */
export const requireJsonAccepted = (headers: IncomingHttpHeaders): void => {
  const { accept = '' } = headers;
  if (accept === '' || accept === '*/*') return;
  if (accept.length <= longestAccept && isJsonAmong(headers)) return;
  throw new RequestError(
    'not_acceptable',
    'Answers are application/json; send "Accept: application/json" or leave Accept out.',
  );
};

const isJsonAmong = (headers: IncomingHttpHeaders): boolean =>
  new Negotiator({ headers }).mediaTypes(accepted).length > 0;

/**
 * Answers a request once per `Idempotency-Key`, and repeats that answer afterwards.
 * @throws RequestError `invalid_parameter`, `idempotency_in_progress`, `idempotency_key_reused`
 */
const answerOnce = async (
  keys: IdempotencyKeys,
  request: { readonly key: string; readonly accountId: string; readonly sent: string },
  now: Date,
  work: () => Promise<Answer>,
): Promise<Answer> => {
  const { key, accountId, sent } = request;
  if (key.length > longestIdempotencyKey || !/^[\x20-\x7e]+$/.test(key)) {
    throw new RequestError(
      'invalid_parameter',
      `Idempotency-Key must be 1 to ${String(longestIdempotencyKey)} printable ASCII characters.`,
    );
  }
  const fingerprint = hash('sha256', sent, 'hex');
  const outcome = await keys.once({ accountId, key, fingerprint, now }, async () => {
    const { status, headers = {}, body } = await work();
    return { status, headers, body: JSON.stringify(body) };
  });
  switch (outcome.kind) {
    case 'answered':
      return outcome.answer;
    case 'replayed': {
      const headers = { ...outcome.answer.headers, 'Idempotent-Replayed': 'true' };
      return { ...outcome.answer, headers };
    }
    case 'unknown':
      throw new RequestError(
        'idempotency_in_progress',
        'The first request under this Idempotency-Key was cut off, and its outcome is not known. List the animals to ' +
          'see whether it was stored; if it was not, send it with a new key.',
        // The key stays taken until it expires.
        { 'Retry-After': String(idempotencyRetentionMs / 1000) },
      );
    case 'in_progress':
      throw new RequestError(
        'idempotency_in_progress',
        'The first request with this Idempotency-Key is still running. Repeat this one in a second.',
        { 'Retry-After': '1' },
      );
    case 'reused':
      throw new RequestError(
        'idempotency_key_reused',
        'This Idempotency-Key was used with another body. Use a new key for a new request.',
      );
  }
};

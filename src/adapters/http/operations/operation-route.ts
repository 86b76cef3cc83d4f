import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';
import {
  idempotencyRetentionMs,
  longestIdempotencyKey,
  type IdempotencyKeys,
  type IdempotencyOutcome,
  type IdempotentRequest,
} from '../../../access/ports.ts';
import type { Caller } from '../../../access/use-cases/callers.ts';
import type { Acting, Clock, Deadline } from '../../../kernel/ports.ts';
import type { Answer } from '../answer.ts';
import { RequestError } from '../error-table.ts';
import { callerOf } from '../rate-limits.ts';
import type { Route } from '../request-handler.ts';
import type { Call, RoutedOperation } from './operation.ts';
import { parse, queryReader, readJsonBody } from './request-input.ts';

export interface RoutePorts {
  readonly idempotencyKeys: IdempotencyKeys;
  readonly acting: Acting;
  readonly clock: Clock;
  readonly deadline: Deadline;
  readonly baseUrl: string;
}

type Known = Omit<Call<unknown, unknown>, 'body'>;

/**
 * Authenticates, authorises, parses and answers, in this order.
 * @param base prefix of the path: `/v1` for the operations in the reference
 */
export const operationRoute = (
  operation: RoutedOperation,
  ports: RoutePorts,
  base = '/v1',
): Route => {
  const { baseUrl, clock, acting } = ports;
  const readQuery = operation.query && queryReader(operation.query);
  return {
    method: operation.method,
    path: `${base}${operation.path}`,
    operation: operation.id,
    headers: removalHeaders(operation, baseUrl),
    answer: (context, parameters) => {
      const caller = callerOf(context);
      refuseRemoved(operation, baseUrl, clock.now());
      requireScope(caller, operation);
      requireJsonAccepted(context.request.headers);
      const { request } = context;
      const known = { caller, parameters, request, query: readQuery?.(context.query) };
      if (operation.body) return answerToBody(operation, known, ports);
      const handle = () => operation.handle({ ...known, body: undefined });
      return operation.method === 'POST' ? acting.run(`key:${caller.keyId}`, handle) : handle();
    },
  };
};

/** Headers of a deprecated operation's answers: deprecation date (RFC 9745), removal date (RFC 8594) and successor. */
const removalHeaders = (
  { deprecation }: RoutedOperation,
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
  operation: RoutedOperation,
  known: Known,
  { idempotencyKeys, acting, clock, deadline }: RoutePorts,
): Promise<Answer> => {
  const { request } = known;
  // Receiving the body does not count against the request's deadline.
  const { text, value } = await deadline.apart(() => readJsonBody(request));
  const body = operation.body && parse(operation.body, value, 'validation_failed');
  const { keyId, accountId } = known.caller;
  const handle = () => acting.run(`key:${keyId}`, () => operation.handle({ ...known, body }));
  const key = operation.idempotent ? idempotencyKeyOf(request) : undefined;
  if (key === undefined) return handle();
  const once = { accountId, key, fingerprint: fingerprintOf(operation.id, text), now: clock.now() };
  return answerOnce(idempotencyKeys, once, handle);
};

/** @throws RequestError `operation_removed` */
const refuseRemoved = (
  { deprecation }: Pick<RoutedOperation, 'deprecation'>,
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
const requireScope = (caller: Caller, { scope, id }: RoutedOperation): void => {
  if (caller.scopes.includes(scope)) return;
  throw new RequestError(
    'insufficient_scope',
    `${id} needs a key with the scope ${scope}; this key has ${caller.scopes.join(', ')}.`,
  );
};

/** Our media type without parameters, because content negotiation treats a type with parameters as a different type. */
const accepted = ['application/json', 'application/json; charset=utf-8'];

/** Browsers send about two hundred characters. Quoted commas make the library very slow. */
const longestAccept = 1024;

/** @throws RequestError `not_acceptable` */
export const requireJsonAccepted = (headers: IncomingHttpHeaders): void => {
  const { accept = '' } = headers;
  if (accept === '' || accept === '*/*') return;
  if (accept.length <= longestAccept && isJsonAmong(headers)) return;
  throw new RequestError('not_acceptable');
};

const isJsonAmong = (headers: IncomingHttpHeaders): boolean =>
  new Negotiator({ headers }).mediaTypes(accepted).length > 0;

/** @throws RequestError `invalid_parameter` */
export const idempotencyKeyOf = ({ headers }: IncomingMessage): string | undefined => {
  const sent = headers['idempotency-key'];
  if (sent === undefined) return undefined;
  const key = String(sent);
  if (key.length <= longestIdempotencyKey && /^[\x20-\x7e]+$/.test(key)) return key;
  throw new RequestError(
    'invalid_parameter',
    `Idempotency-Key must be 1 to ${String(longestIdempotencyKey)} printable ASCII characters.`,
  );
};

export const fingerprintOf = (operation: string, sent: string): string =>
  hash('sha256', `${operation}\n${sent}`, 'hex');

/** @throws RequestError `idempotency_in_progress`, `idempotency_key_reused` */
const answerOnce = async (
  keys: IdempotencyKeys,
  request: IdempotentRequest,
  work: () => Promise<Answer>,
): Promise<Answer> => {
  const outcome = await keys.once(request, async () => {
    const { status, headers = {}, body } = await work();
    return { status, headers, body: JSON.stringify(body) };
  });
  if (outcome.kind === 'answered') return outcome.answer;
  const { answer } = storedIn(outcome);
  return { ...answer, headers: { ...answer.headers, ...replayed } };
};

export const replayed = { 'Idempotent-Replayed': 'true' };

/** @throws RequestError `idempotency_in_progress`, `idempotency_key_reused` */
export const storedIn = (
  outcome: Exclude<IdempotencyOutcome, { kind: 'answered' }>,
): Extract<IdempotencyOutcome, { kind: 'replayed' }> => {
  switch (outcome.kind) {
    case 'replayed':
      return outcome;
    case 'unknown':
      throw new RequestError(
        'idempotency_in_progress',
        'The first request under this Idempotency-Key was cut off, and its outcome is not known. List what you ' +
          'have to see whether it was stored; if it was not, send it with a new key.',
        // The key stays taken until it expires.
        { 'Retry-After': String(idempotencyRetentionMs / 1000) },
      );
    case 'in_progress':
      throw stillRunning();
    case 'reused':
      throw new RequestError('idempotency_key_reused');
  }
};

export const stillRunning = (): RequestError =>
  new RequestError('idempotency_in_progress', undefined, { 'Retry-After': '1' });

import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import Negotiator from 'negotiator';
import {
  idempotencyRetentionMs,
  longestIdempotencyKey,
  type IdempotencyKeys,
} from '../../../access/ports.ts';
import type { Caller } from '../../../access/use-cases/callers.ts';
import { RequestError } from '../answers/error-table.ts';
import type { Answer } from '../answers/answer.ts';
import type { Operation } from './operation.ts';

/** @throws RequestError `operation_removed` */
export const refuseRemoved = (
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
export const requireScope = (caller: Caller, { scope, id }: Operation): void => {
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
export const answerOnce = async (
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

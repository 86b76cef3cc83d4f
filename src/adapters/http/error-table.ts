import type { AccessErrorCode } from '../../access/domain/access-error.ts';
import type { CatalogueErrorCode } from '../../catalogue/domain/catalogue-error.ts';
import { DomainError } from '../../kernel/domain-error.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { Answer } from './answer.ts';

const is = <Status extends number>(status: Status, meaning: string) => ({ status, meaning });

/** Every `code` that the API answers: its HTTP status, and what it means (docs/errors.md, OpenAPI). */
export const errorTable = {
  validation_failed: is(400, 'The body lacks a required field or has an invalid value.'),
  invalid_parameter: is(400, 'A query parameter or a request header has an invalid value.'),
  invalid_cursor: is(400, 'The cursor was changed, or belongs to another list or filter.'),
  malformed_request: is(
    400,
    'The request is not valid HTTP/1.1, its `Host` is missing or invalid, or `Host` or `Authorization` is given twice.',
  ),
  malformed_json: is(400, 'The body is not JSON in UTF-8.'),
  missing_api_key: is(401, 'No API key was sent.'),
  invalid_api_key: is(401, 'The API key is unknown, revoked or expired.'),
  insufficient_scope: is(403, 'The API key is valid but lacks the scope for this operation.'),
  pet_not_found: is(404, 'This store has no animal with that id.'),
  route_not_found: is(404, 'There is nothing at this path.'),
  method_not_allowed: is(405, 'The path exists, but not with this verb; `Allow` lists the verbs.'),
  not_acceptable: is(406, 'The client does not accept `application/json`.'),
  request_timeout: is(
    408,
    'The request did not arrive in time: 10 seconds for headers, 30 for a body.',
  ),
  idempotency_in_progress: is(
    409,
    'The first request under this `Idempotency-Key` is still running.',
  ),
  operation_removed: is(410, 'The operation was removed on its announced date.'),
  payload_too_large: is(413, 'The body is larger than 64 KiB.'),
  unsupported_media_type: is(
    415,
    'The body is not `application/json` in UTF-8 without compression.',
  ),
  expectation_failed: is(417, 'The header `Expect` has a value other than `100-continue`.'),
  idempotency_key_reused: is(
    422,
    'This `Idempotency-Key` was used with another body within 24 hours.',
  ),
  rate_limit_exceeded: is(429, 'The limit of requests per minute is used up.'),
  daily_quota_exceeded: is(429, 'The limit of requests per day is used up.'),
  key_banned: is(429, 'The key kept calling after a 429 and is banned for a while.'),
  headers_too_large: is(431, 'The address and the headers together are larger than 16 KiB.'),
  internal_error: is(500, 'A fault on our side; `X-Request-Id` names the request in our logs.'),
  service_unavailable: is(
    503,
    'The service cannot reach its storage at the moment; see `Retry-After`.',
  ),
};

export type ErrorCode = keyof typeof errorTable;

/** The public code of each domain error. */
const domainCodes: Readonly<Record<CatalogueErrorCode | AccessErrorCode, ErrorCode>> = {
  pet_not_found: 'pet_not_found',
  pet_wrong_status: 'validation_failed',
  order_not_found: 'route_not_found',
  order_wrong_status: 'validation_failed',
  order_invalid: 'validation_failed',
  pet_invalid: 'validation_failed',
  account_not_found: 'invalid_api_key',
  account_invalid: 'validation_failed',
  api_key_not_found: 'invalid_api_key',
  api_key_invalid: 'validation_failed',
  api_keys_full: 'validation_failed',
  invalid_api_key: 'invalid_api_key',
};

/** A request that the HTTP layer refuses, before or after the use case ran. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** The only translation from thrown errors to answers. Unknown errors stay opaque. */
export const answerTo = (error: unknown): Answer => {
  if (error instanceof RequestError) return answer(error.code, error.message, error.headers);
  if (error instanceof DomainError && error.code in domainCodes) {
    return answer(domainCodes[error.code as keyof typeof domainCodes], error.message);
  }
  if (error instanceof Unavailable) {
    const message = 'The service cannot reach its storage at the moment. Try again in a second.';
    return answer('service_unavailable', message, { 'Retry-After': '1' });
  }
  return answer(
    'internal_error',
    'Something failed on our side. The X-Request-Id header names this request in our logs.',
  );
};

const answer = (
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer => {
  const { status } = errorTable[code];
  return {
    status,
    headers: status === 401 ? { ...headers, 'WWW-Authenticate': 'Bearer' } : headers,
    body: { code, message, status },
  };
};

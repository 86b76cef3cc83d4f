import type { AccessErrorCode } from '../../../access/domain/access-error.ts';
import type { CatalogueErrorCode } from '../../../catalogue/domain/catalogue-error.ts';
import { DomainError } from '../../../kernel/domain-error.ts';
import { Unavailable } from '../../../kernel/unavailable.ts';

/** Every `code` that the API answers: its HTTP status, and what it means (docs/errors.md, OpenAPI). */
export const errorTable = {
  validation_failed: {
    status: 400,
    meaning: 'The body lacks a required field or has an invalid value.',
  },
  invalid_parameter: {
    status: 400,
    meaning: 'A query parameter or a request header has an invalid value.',
  },
  invalid_cursor: {
    status: 400,
    meaning: 'The cursor was changed, or belongs to another list or filter.',
  },
  malformed_request: {
    status: 400,
    meaning: 'The request is not valid HTTP/1.1, or its `Host` is missing, invalid or given twice.',
  },
  malformed_json: { status: 400, meaning: 'The body is not JSON in UTF-8.' },
  missing_api_key: { status: 401, meaning: 'No API key was sent.' },
  invalid_api_key: { status: 401, meaning: 'The API key is unknown, revoked or expired.' },
  insufficient_scope: {
    status: 403,
    meaning: 'The API key is valid but lacks the scope for this operation.',
  },
  pet_not_found: { status: 404, meaning: 'This store has no animal with that id.' },
  route_not_found: { status: 404, meaning: 'There is nothing at this path.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but not with this verb; `Allow` lists the verbs.',
  },
  not_acceptable: { status: 406, meaning: 'The client does not accept `application/json`.' },
  request_timeout: {
    status: 408,
    meaning: 'The request did not arrive in time: 10 seconds for headers, 30 for a body.',
  },
  idempotency_in_progress: {
    status: 409,
    meaning: 'The first request under this `Idempotency-Key` is still running.',
  },
  operation_removed: { status: 410, meaning: 'The operation was removed on its announced date.' },
  payload_too_large: { status: 413, meaning: 'The body is larger than 64 KiB.' },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not `application/json` in UTF-8 without compression.',
  },
  expectation_failed: {
    status: 417,
    meaning: 'The header `Expect` says something else than `100-continue`.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'This `Idempotency-Key` was used with another body within 24 hours.',
  },
  rate_limit_exceeded: { status: 429, meaning: 'The limit of requests per minute is used up.' },
  daily_quota_exceeded: { status: 429, meaning: 'The limit of requests per day is used up.' },
  key_banned: {
    status: 429,
    meaning: 'The key went on calling after a 429 and is banned for a while.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The address and the headers together are larger than 16 KiB.',
  },
  internal_error: {
    status: 500,
    meaning: 'A fault on our side; `X-Request-Id` names the request in our logs.',
  },
  service_unavailable: {
    status: 503,
    meaning: 'The service cannot reach its storage for the moment; see `Retry-After`.',
  },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>;

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

export interface ErrorAnswer {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The only translation from thrown errors to answers. Unknown errors stay opaque. */
export const answerTo = (error: unknown): ErrorAnswer => {
  if (error instanceof RequestError) return answer(error.code, error.message, error.headers);
  if (error instanceof DomainError && error.code in domainCodes) {
    return answer(domainCodes[error.code as keyof typeof domainCodes], error.message);
  }
  if (error instanceof Unavailable) {
    const message = 'The service cannot reach its storage for the moment. Try again in a second.';
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
): ErrorAnswer => {
  const { status } = errorTable[code];
  return {
    code,
    status,
    message,
    headers: status === 401 ? { ...headers, 'WWW-Authenticate': 'Bearer' } : headers,
  };
};

import type { AccessErrorCode } from '../../access/domain/access-error.ts';
import type { CatalogueErrorCode } from '../../catalogue/domain/catalogue-error.ts';
import { DomainError } from '../../kernel/decision.ts';
import { Unavailable } from '../../kernel/ports.ts';
import type { SitesErrorCode, UploadRefusal } from '../../sites/domain/sites-error.ts';
import type { Answer } from './answer.ts';

/** @param example a message, which test/support/http/documented-answers.ts compares with real answers */
const is = <Status extends number>(status: Status, meaning: string, example: string) => ({
  status,
  meaning,
  example,
});

/** Every error `code` of the API with its HTTP status and meaning (docs/errors.md, OpenAPI). */
export const errorTable = {
  validation_failed: is(
    400,
    'The body lacks a required field or has an invalid value.',
    'categoryId is required: an integer from 1 to 9223372036854775807.',
  ),
  invalid_parameter: is(
    400,
    'A query parameter or a request header has an invalid value.',
    'limit must be a whole number from 1 to 100.',
  ),
  invalid_cursor: is(
    400,
    'The cursor was changed, or belongs to another list or filter.',
    'cursor does not belong to this list. Follow the Link header with rel="next" as it is, with the same ' +
      'filter, or leave cursor out to start at the first page.',
  ),
  malformed_request: is(
    400,
    'The request is not valid HTTP/1.1, its `Host` is missing or invalid, `Host` or `Authorization` is given twice, or a `Transfer-Encoding` is not `chunked` or comes over HTTP/1.0.',
    'Send the header Host once.',
  ),
  malformed_json: is(
    400,
    'The body is not JSON in UTF-8.',
    'The body is empty; send a JSON object.',
  ),
  missing_api_key: is(
    401,
    'No API key was sent.',
    'Send your API key in the header "Authorization: Bearer pets_live_…".',
  ),
  invalid_api_key: is(
    401,
    'The API key is unknown, revoked or expired.',
    'This API key is not valid. Send a current key as "Authorization: Bearer pets_live_…".',
  ),
  insufficient_scope: is(
    403,
    'The API key is valid but lacks the scope for this operation.',
    'createPet needs a key with the scope pets:write; this key has pets:read, orders:read.',
  ),
  pet_not_found: is(
    404,
    'This store has no animal with that id.',
    'There is no animal with the id 7 in this store.',
  ),
  project_not_found: is(
    404,
    'Your account has no project with that slug.',
    'There is no project "birds".',
  ),
  deploy_not_found: is(
    404,
    'The project has no deploy with that number: the last 10 are kept.',
    'birds has no deploy 7; the last 10 are kept.',
  ),
  route_not_found: is(
    404,
    'There is nothing at this path.',
    'There is nothing at /v1/animals. The reference at /docs lists all paths.',
  ),
  method_not_allowed: is(
    405,
    'The path exists, but not with this verb; `Allow` lists the verbs.',
    '/v1/pets does not accept DELETE; use one of GET, HEAD, POST, OPTIONS.',
  ),
  not_acceptable: is(
    406,
    'The client does not accept `application/json`.',
    'Answers are application/json; send "Accept: application/json" or leave Accept out.',
  ),
  request_timeout: is(
    408,
    'The request did not arrive in time: 10 seconds for headers, 30 for a body.',
    'The body did not arrive within 30 seconds. Send the request again.',
  ),
  idempotency_in_progress: is(
    409,
    'The first request under this `Idempotency-Key` is still running.',
    'The first request with this Idempotency-Key is still running. Repeat this one in a second.',
  ),
  operation_removed: is(
    410,
    'The operation was removed on its announced date.',
    'This operation was removed on 2030-12-05. Use GET https://api.example.com/v1/pets instead.',
  ),
  payload_too_large: is(
    413,
    'The body is larger than 64 KiB, or the archive is larger than 200 MiB.',
    'The body is larger than 64 KiB (65536 bytes); send less.',
  ),
  unsupported_media_type: is(
    415,
    'The body is not `application/json` in UTF-8 without compression or, for a deploy, not `application/zip` or `application/gzip`.',
    'Send the body as "Content-Type: application/json" in UTF-8, without Content-Encoding.',
  ),
  expectation_failed: is(
    417,
    'The header `Expect` has a value other than `100-continue`.',
    'The header Expect can only be "100-continue"; leave it out.',
  ),
  deploy_refused: is(
    422,
    'The archive is not a site that can be published; the message has the reason.',
    'It has no index.html at its top. Add the page that visitors see first.',
  ),
  idempotency_key_reused: is(
    422,
    'This `Idempotency-Key` was used with another body within 24 hours.',
    'This Idempotency-Key was used with another body. Use a new key for a new request.',
  ),
  rate_limit_exceeded: is(
    429,
    'The limit of requests per minute is used up.',
    'The limit of 60 requests a minute (UTC) is used up. Try again in 42 s, and wait longer each time you are refused.',
  ),
  daily_quota_exceeded: is(
    429,
    'The limit of requests per day is used up.',
    'The limit of 1000 requests a day (UTC) is used up. Try again in 3600 s, and wait longer each time you are refused.',
  ),
  key_banned: is(
    429,
    'The key kept calling after a 429 and is banned for a while.',
    'This key kept calling after it was refused and is banned until 2026-11-21T09:42:18.986Z. Requests until ' +
      'then do not prolong the ban.',
  ),
  headers_too_large: is(
    431,
    'The address and the headers together are larger than 16 KiB.',
    'The address and the headers together are larger than 16 KiB; send less.',
  ),
  internal_error: is(
    500,
    'A fault on our side; `X-Request-Id` names the request in our logs.',
    'Something failed on our side. The X-Request-Id header names this request in our logs.',
  ),
  service_unavailable: is(
    503,
    'The service cannot reach its storage at the moment; see `Retry-After`.',
    'The service cannot reach its storage at the moment. Try again in a second.',
  ),
};

export type ErrorCode = keyof typeof errorTable;

const domainCodes: Readonly<
  Record<
    | CatalogueErrorCode
    | AccessErrorCode
    | Extract<SitesErrorCode, 'project_not_found' | 'deploy_not_found' | 'deploy_wrong_state'>
    | UploadRefusal,
    ErrorCode
  >
> = {
  pet_not_found: 'pet_not_found',
  pet_wrong_status: 'validation_failed',
  order_not_found: 'route_not_found',
  order_wrong_status: 'validation_failed',
  order_invalid: 'validation_failed',
  pet_invalid: 'validation_failed',
  account_not_found: 'invalid_api_key',
  account_deleted: 'invalid_api_key',
  account_invalid: 'validation_failed',
  account_not_restorable: 'validation_failed',
  api_key_not_found: 'invalid_api_key',
  api_key_invalid: 'validation_failed',
  api_keys_full: 'validation_failed',
  invalid_api_key: 'invalid_api_key',
  project_not_found: 'project_not_found',
  deploy_not_found: 'deploy_not_found',
  deploy_wrong_state: 'deploy_refused',
  upload_ambiguous: 'validation_failed',
  upload_busy: 'service_unavailable',
  upload_cut_off: 'malformed_request',
  upload_missing: 'validation_failed',
  upload_no_form: 'unsupported_media_type',
  upload_no_space: 'service_unavailable',
  upload_too_large: 'payload_too_large',
  upload_too_slow: 'request_timeout',
};

const retryAfter = '30';

export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  /** @param message unless it is always the example of the table */
  constructor(
    code: ErrorCode,
    message = errorTable[code].example,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** Translates all thrown errors to answers. Unknown errors reveal nothing. */
export const answerTo = (error: unknown): Answer => {
  if (error instanceof RequestError) return answer(error.code, error.message, error.headers);
  if (error instanceof DomainError && error.code in domainCodes) {
    const code = domainCodes[error.code as keyof typeof domainCodes];
    const isBusy = code === 'service_unavailable';
    return answer(code, error.message, isBusy ? { 'Retry-After': retryAfter } : {});
  }
  if (error instanceof Unavailable) {
    return answer('service_unavailable', undefined, { 'Retry-After': '1' });
  }
  return answer('internal_error');
};

const answer = (
  code: ErrorCode,
  message = errorTable[code].example,
  headers: Readonly<Record<string, string>> = {},
): Answer => {
  const { status } = errorTable[code];
  return {
    status,
    headers: status === 401 ? { ...headers, 'WWW-Authenticate': 'Bearer' } : headers,
    body: { code, message, status },
  };
};

import { errorTable, type ErrorCode } from '../error-table.ts';

/** An example message of each error. test/support/http/documented-answers.ts compares them with real answers. */
const messages: Readonly<Record<ErrorCode, string>> = {
  validation_failed: 'categoryId is required: an integer from 1 to 9223372036854775807.',
  invalid_parameter: 'limit must be a whole number from 1 to 100.',
  invalid_cursor:
    'cursor does not belong to this list. Follow the Link header with rel="next" as it is, with the same ' +
    'filter, or leave cursor out to start at the first page.',
  malformed_request: 'Send the header Host once.',
  malformed_json: 'The body is empty; send a JSON object.',
  missing_api_key: 'Send your API key in the header "Authorization: Bearer pets_live_…".',
  invalid_api_key:
    'This API key is not valid. Send a current key as "Authorization: Bearer pets_live_…".',
  insufficient_scope:
    'createPet needs a key with the scope pets:write; this key has pets:read, orders:read.',
  pet_not_found: 'There is no animal with the id 7 in this store.',
  route_not_found: 'There is nothing at /v1/animals. The reference at /docs lists all paths.',
  method_not_allowed: '/v1/pets does not accept DELETE; use one of GET, HEAD, POST, OPTIONS.',
  not_acceptable:
    'Answers are application/json; send "Accept: application/json" or leave Accept out.',
  request_timeout: 'The body did not arrive within 30 seconds. Send the request again.',
  idempotency_in_progress:
    'The first request with this Idempotency-Key is still running. Repeat this one in a second.',
  operation_removed:
    'This operation was removed on 2030-12-05. Use GET https://api.example.com/v1/pets instead.',
  payload_too_large: 'The body is larger than 64 KiB (65536 bytes); send less.',
  unsupported_media_type:
    'Send the body as "Content-Type: application/json" in UTF-8, without Content-Encoding.',
  expectation_failed: 'The header Expect can only be "100-continue"; leave it out.',
  idempotency_key_reused:
    'This Idempotency-Key was used with another body. Use a new key for a new request.',
  rate_limit_exceeded:
    'The limit of 60 requests a minute (UTC) is used up. Try again in 42 s, and wait longer each time you are refused.',
  daily_quota_exceeded:
    'The limit of 1000 requests a day (UTC) is used up. Try again in 3600 s, and wait longer each time you are refused.',
  key_banned:
    'This key kept calling after it was refused and is banned until 2026-11-21T09:42:18.986Z. Requests until ' +
    'then do not prolong the ban.',
  headers_too_large: 'The address and the headers together are larger than 16 KiB; send less.',
  internal_error:
    'Something failed on our side. The X-Request-Id header names this request in our logs.',
  service_unavailable: 'The service cannot reach its storage at the moment. Try again in a second.',
};

/** One answer for each code, for the reference. */
export const errorExample = (code: ErrorCode) => {
  const { status, meaning } = errorTable[code];
  return { summary: meaning, value: { code, message: messages[code], status } };
};

import { errorTable, type ErrorCode } from '../../src/adapters/http/error-table.ts';
import { code, page, printed, table } from './markdown.ts';

/** What a client does about each refusal. A new code does not compile until it is advised on. */
const advice: Readonly<Record<ErrorCode, string>> = {
  validation_failed: 'Correct the fields that `message` names.',
  invalid_parameter: 'Correct the parameter or header that `message` names.',
  invalid_cursor: 'Follow `Link` as it is, or start again without `cursor`.',
  malformed_request: 'Use an HTTP client that keeps to RFC 9112; `message` says what is wrong.',
  malformed_json: 'Send one JSON object in UTF-8.',
  missing_api_key: 'Send `Authorization: Bearer` with your key.',
  invalid_api_key: 'Use a current key. Do not repeat the request with this one.',
  insufficient_scope: 'Use a key that has the scope which `message` names.',
  pet_not_found: 'Treat the animal as absent.',
  project_not_found: 'Check the slug; the key must be of the account that has the project.',
  deploy_not_found: 'Treat the deploy as deleted.',
  route_not_found: 'Check the path against the reference at `/docs`.',
  method_not_allowed: 'Use a verb from `Allow`.',
  not_acceptable: 'Accept `application/json`, or leave `Accept` out.',
  request_timeout: 'Send the request again, faster; a `POST` with the same `Idempotency-Key`.',
  idempotency_in_progress: 'Repeat it after `Retry-After`.',
  operation_removed: 'Use the operation that `message` and `Link` name.',
  payload_too_large: 'Send a smaller body.',
  unsupported_media_type: 'Send the `Content-Type` that `message` names.',
  expectation_failed: 'Leave `Expect` out.',
  deploy_refused: 'Correct what `message` names, and deploy again; see [sites](sites.md).',
  idempotency_key_reused: 'Use a new key for a new request.',
  rate_limit_exceeded:
    'Wait for `Retry-After`, then go on more slowly; see [retries](api.md#retries).',
  daily_quota_exceeded: 'Wait for `Retry-After`, or ask the operator for a larger plan.',
  key_banned: 'Stop until `Retry-After` has passed; see [bans](api.md#bans).',
  headers_too_large: 'Send fewer or shorter headers, or a shorter address.',
  internal_error: 'Try again later; report the value of `X-Request-Id`.',
  service_unavailable: 'Repeat it after `Retry-After`; see [retries](api.md#retries).',
};

export const errorsPage = (): string => {
  const codes = Object.keys(errorTable) as ErrorCode[];
  const rows = codes.map((name) => [
    String(errorTable[name].status),
    code(name),
    errorTable[name].meaning,
    advice[name],
  ]);
  return page(
    '# Errors',
    printed('src/adapters/http/error-table.ts'),
    'Every refusal has this body and nothing else, as `application/json`:',
    '```json\n' +
      '{\n' +
      '  "code": "pet_not_found",\n' +
      '  "message": "There is no animal with the id 7 in this store.",\n' +
      '  "status": 404\n' +
      '}\n' +
      '```',
    'Act on `code`. Show or log `message`: it is for people, and its words may change. ' +
      '`status` is the HTTP status once more.',
    table(['Status', 'Code', 'Meaning', 'What to do'], rows),
    'Headers that come with some of them: `WWW-Authenticate: Bearer` with 401, `Allow` with 405, ' +
      '`Retry-After` (whole seconds) with 409, 429 and 503. `X-Request-Id` comes with every answer, and ' +
      '[the limits](api.md#limits) with every answer under `/v1` and `/deploys`.',
  );
};

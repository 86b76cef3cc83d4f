/** Every code that the API answers today. More may be added: handle the codes you know, and the rest by `status`. */
export type ErrorCode =
  | 'validation_failed'
  | 'invalid_parameter'
  | 'invalid_cursor'
  | 'malformed_request'
  | 'malformed_json'
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'insufficient_scope'
  | 'pet_not_found'
  | 'project_not_found'
  | 'deploy_not_found'
  | 'deploy_refused'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'request_timeout'
  | 'idempotency_in_progress'
  | 'operation_removed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'idempotency_key_reused'
  | 'rate_limit_exceeded'
  | 'daily_quota_exceeded'
  | 'key_banned'
  | 'headers_too_large'
  | 'internal_error'
  | 'service_unavailable';

/** An error that the API answered. */
export class StoreError<Code extends string = string> extends Error {
  override readonly name = 'StoreError';
  readonly code: Code;
  readonly status: number;
  /** Quote it when you report a problem. */
  readonly requestId: string | undefined;
  /** Seconds until a retry, if the answer names them. */
  readonly retryAfter: number | undefined;

  constructor(answer: Response, { code, message }: { code: Code; message: string }) {
    super(message);
    this.code = code;
    this.status = answer.status;
    this.requestId = answer.headers.get('X-Request-Id') ?? undefined;
    const seconds = answer.headers.get('Retry-After');
    this.retryAfter = seconds === null ? undefined : Number(seconds);
  }
}

/** Whether the API answered with this code. */
export const isStoreError = <Code extends ErrorCode>(
  error: unknown,
  code: Code,
): error is StoreError<Code> => error instanceof StoreError && error.code === code;

/** Parses an answer of 400 or more; proxies on the way may answer in another format. */
export const errorOf = async (answer: Response): Promise<StoreError> => {
  const text = await answer.text();
  const body = readObject(text);
  const known = typeof body?.['code'] === 'string' && typeof body['message'] === 'string';
  return known
    ? new StoreError(answer, body as { code: string; message: string })
    : new StoreError(answer, { code: 'unknown', message: `HTTP ${String(answer.status)}` });
};

const readObject = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
};

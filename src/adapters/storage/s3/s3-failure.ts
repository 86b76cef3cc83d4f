interface SdkError {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Answers that another attempt may not get again. */
const passing: readonly string[] = ['RequestTimeout', 'RequestTimeTooSkewed', 'SlowDown'];
/** Without an answer of the store, but they stay. */
const lasting: readonly string[] = ['CredentialsProviderError', 'InvalidArnException'];

/**
 * What went wrong at the object store. A new error, because those of the SDK carry what was signed, a session token
 * among it, and logs show all fields of an error.
 */
export class S3Failure extends Error {
  override readonly name = 'S3Failure';
  /** As the store names it, like `AccessDenied`, or as the system does, like `ECONNREFUSED`. */
  readonly code: string;
  /** Of its answer, if there was one. */
  readonly status: number | undefined;

  constructor(code: string, message: string, status?: number) {
    super(`${code}: ${message}`);
    this.code = code;
    this.status = status;
  }

  static of(error: unknown): S3Failure {
    if (error instanceof S3Failure) return error;
    const { name = 'Error', code, message = '', $metadata } = error as SdkError;
    const status = $metadata?.httpStatusCode;
    return new S3Failure(status === undefined ? (code ?? name) : name, message, status);
  }

  /** Whether the same request may succeed a moment later. */
  get isPassing(): boolean {
    if (passing.includes(this.code)) return true;
    if (this.status === undefined) return !lasting.includes(this.code);
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

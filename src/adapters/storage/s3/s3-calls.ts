import pTimeout from 'p-timeout';

export const attempts = 4;
/** The smallest part that stores accept, except for the last one. */
export const partBytes = 5 * 1024 * 1024;
/** Limits the time of one attempt, which suffices at 100 KB per second. */
export const sendingMs = (bytes: number): number => 10_000 + bytes / 100;

export interface S3Place {
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint: string | undefined;
}

interface SdkError {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const passing: readonly string[] = ['RequestTimeout', 'RequestTimeTooSkewed', 'SlowDown'];
const lasting: readonly string[] = ['CredentialsProviderError', 'InvalidArnException'];

/** Replaces the SDK's errors, which contain session tokens, because logs show all fields. */
export class S3Failure extends Error {
  override readonly name = 'S3Failure';
  readonly code: string;
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

  get isPassing(): boolean {
    if (passing.includes(this.code)) return true;
    if (this.status === undefined) return !lasting.includes(this.code);
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

export interface CallTimeouts {
  readonly attemptMs: number;
  readonly allMs: number;
}

export const reading: CallTimeouts = { attemptMs: 3_000, allMs: 6_000 };
export const asking: CallTimeouts = { attemptMs: 15_000, allMs: attempts * 15_000 };
export const writing = (bytes: number): CallTimeouts => ({
  attemptMs: sendingMs(bytes),
  allMs: attempts * sendingMs(bytes),
});

type CallOptions = Readonly<{ abortSignal: AbortSignal; requestTimeout: number }>;

/** Aborts a call that takes too long, including the search for credentials. @throws S3Failure */
export const inTime = async <T>(
  { attemptMs, allMs }: CallTimeouts,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> => {
  const end = new AbortController();
  const late = new S3Failure('Timeout', `no answer within ${String(allMs)} ms`);
  try {
    const answer = call({ abortSignal: end.signal, requestTimeout: attemptMs });
    return await pTimeout(answer, { milliseconds: allMs, message: late });
  } catch (error) {
    throw S3Failure.of(error);
  } finally {
    // This also closes an answer that was not read completely.
    end.abort();
  }
};

const away = { failures: 3, restMs: 1_000 };

/** Limits calls while the store does not answer: sends one request a second and fails the others at once. */
export class Reachability {
  #failures = 0;
  #isTrying = false;
  #restsUntil = -Infinity;

  get isAway(): boolean {
    return this.#failures >= away.failures;
  }

  /** @throws S3Failure at once while the store is away; whatever `work` throws */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const { isAway } = this;
    if (isAway && (this.#isTrying || performance.now() < this.#restsUntil)) {
      throw new S3Failure('Away', 'it did not answer a moment ago', 0);
    }
    if (isAway) this.#isTrying = true;
    try {
      const result = await work();
      this.#failures = 0;
      return result;
    } catch (error) {
      this.#failures = S3Failure.of(error).isPassing ? this.#failures + 1 : 0;
      this.#restsUntil = performance.now() + away.restMs;
      throw error;
    } finally {
      if (isAway) this.#isTrying = false;
    }
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import pTimeout from 'p-timeout';

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

const firstPauseMs = 100;

export interface Patience {
  readonly attempts: number;
  /** Of each attempt, with what it reads and whatever it needs to get credentials. */
  readonly deadlineMs: number;
}

/** A visitor waits for it. */
export const reading: Patience = { attempts: 2, deadlineMs: 3_000 };
export const asking: Patience = { attempts: 4, deadlineMs: 15_000 };
/** Long enough at 100 KB a second. */
export const writing = (bytes: number): Patience => ({
  attempts: 4,
  deadlineMs: 10_000 + bytes / 100,
});

/**
 * Tries what may be done twice with the same result, until the failure is one that stays.
 * @throws S3Failure
 */
export const inAttempts = async <T>(
  { attempts, deadlineMs }: Patience,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  for (let number = 1; ; number++) {
    try {
      return await withinDeadline(deadlineMs, attempt);
    } catch (error) {
      const failure = S3Failure.of(error);
      if (number === attempts || !failure.isPassing) throw failure;
      // Apart from each other, so that those that failed together do not come back together.
      await delay(firstPauseMs * 2 ** (number - 1) * (0.5 + Math.random()));
    }
  }
};

const withinDeadline = async <T>(
  milliseconds: number,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const end = new AbortController();
  const late = new S3Failure('Timeout', `no answer within ${String(milliseconds)} ms`);
  try {
    return await pTimeout(attempt(end.signal), { milliseconds, message: late });
  } finally {
    // Also ends an answer that nobody reads to its end.
    end.abort();
  }
};

/** Of a store that does not answer. */
const away = { failures: 3, restMs: 1_000 };

/**
 * Remembers that the store does not answer. Then only one request a second goes there, and the others fail at once:
 * visitors whose files are here do not wait behind those whose files are not.
 */
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

import { setTimeout as delay } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { S3Failure } from './s3-failure.ts';

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

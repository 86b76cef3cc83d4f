import { Unavailable } from '../../kernel/unavailable.ts';
import { failureOf, type Failure } from './engine/failure.ts';

/** For transactions that conflict repeatedly, as with many writers on several Galera members. */
const retries = { most: 12, firstPauseMs: 10, longestPauseMs: 250 };

const unreachable: readonly Failure[] = ['unavailable', 'busy', 'conflict', 'lock_timeout'];

/** As callers see it. */
export const translated = (error: unknown): unknown => {
  const failure = failureOf(error);
  return unreachable.includes(failure) ? new Unavailable('The database', error) : error;
};

const isConflict = (error: unknown): boolean =>
  error instanceof Unavailable && failureOf(error.cause) === 'conflict';

/**
 * How long to wait before the transaction runs again. Random, because rivals with equal pauses would conflict again.
 * @returns undefined when it shall not
 */
export const pauseAfter = (tried: number, error: unknown): number | undefined => {
  const { most, firstPauseMs, longestPauseMs } = retries;
  if (!isConflict(error) || tried === most) return undefined;
  return Math.min(firstPauseMs * 2 ** tried, longestPauseMs) * (0.5 + Math.random() / 2);
};

import { setTimeout as delay } from 'node:timers/promises';

const pauses = { firstMs: 5, longestMs: 50 };

/**
 * Repeats `attempt`, with short pauses, while another program holds the lock. SQLite could wait by itself, but that
 * would block the whole process.
 * @param refused called after each refusal; throws to give up
 */
export const pastOtherPrograms = async <T>(
  attempt: () => T,
  refused: (error: unknown) => void,
): Promise<T> => {
  for (let pauseMs = pauses.firstMs; ; pauseMs = Math.min(2 * pauseMs, pauses.longestMs)) {
    try {
      return attempt();
    } catch (error) {
      if (!isInTheWay(error)) throw error;
      refused(error);
    }
    // Random, because two programs with equal pauses would collide again.
    await delay(pauseMs * (0.5 + Math.random() / 2));
  }
};

/** For `pastOtherPrograms`: gives up after `limitMs`. */
export const givingUpAfter = (limitMs: number): ((error: unknown) => void) => {
  let since: number | undefined;
  return (error) => {
    const now = performance.now();
    since ??= now;
    if (now - since >= limitMs) throw keptLocked(limitMs, error);
  };
};

/** The error for callers that waited in vain. */
export const keptLocked = (waitedMs: number, cause: unknown): Error =>
  Object.assign(
    new Error(
      `another program keeps the SQLite file locked, and did not release it within ${String(waitedMs / 1000)} s`,
      { cause },
    ),
    { code: 'SQLITE_BUSY' },
  );

/** `SQLITE_BUSY` itself, and its kinds: another program repairs the file, or has written since. */
const isInTheWay = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
};

import { setTimeout as delay } from 'node:timers/promises';

// Long waits ask less often, because asking takes processor time from what is waited for.
const leastPauseMs = 10;
const longestPauseMs = 50;

/**
 * Asks again and again until there is an answer other than undefined or false.
 * @param what names the thing waited for in the error after `deadlineMs`
 */
export const until = async <T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 30_000,
): Promise<T> => {
  const deadline = performance.now() + deadlineMs;
  for (let pauseMs = leastPauseMs; ; pauseMs = Math.min(pauseMs + 2, longestPauseMs)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await delay(pauseMs);
  }
};

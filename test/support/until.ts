import { setTimeout as delay } from 'node:timers/promises';

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
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await delay(10);
  }
};

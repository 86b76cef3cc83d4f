import { setTimeout as delay } from 'node:timers/promises';

// Long waits ask less often, because asking takes processor time from what is waited for.
const leastPauseMs = 10;
const longestPauseMs = 50;
/** So long on any machine that it can only mean: never. */
export const neverMs = 60_000;
/** Goes on also while a test holds the time. */
const elapsed = performance.now.bind(performance);

type Ask<T> = () => Promise<T | undefined | false> | T | undefined | false;

/**
 * Asks again and again until there is an answer other than undefined or false.
 * @param what names the thing waited for in the error
 */
export const until = <T>(what: string, ask: Ask<T>): Promise<T> => within(neverMs, what, ask);

/** The same with a limit that means something: only for programs that judge times, such as `make faults`. */
export const within = async <T>(limitMs: number, what: string, ask: Ask<T>): Promise<T> => {
  const deadline = elapsed() + limitMs;
  for (let pauseMs = leastPauseMs; ; pauseMs = Math.min(pauseMs + 2, longestPauseMs)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (elapsed() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await delay(pauseMs);
  }
};

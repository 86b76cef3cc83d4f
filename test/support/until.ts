import { setTimeout as delay } from 'node:timers/promises';

// Long waits poll less often, because polling takes processor time from the awaited work.
const leastPauseMs = 10;
const longestPauseMs = 50;
/** So long that on any machine it can only mean never. */
export const neverMs = 60_000;
/** The real clock, even while a test holds the time. */
const elapsed = performance.now.bind(performance);

type Ask<T> = () => Promise<T | undefined | false> | T | undefined | false;

/**
 * Polls until the answer is neither undefined nor false.
 * @param what names the awaited condition in the error
 */
export const until = <T>(what: string, ask: Ask<T>): Promise<T> => within(neverMs, what, ask);

/** Like `until`, with a meaningful limit. Only for programs that judge times, such as `make faults`. */
export const within = async <T>(limitMs: number, what: string, ask: Ask<T>): Promise<T> => {
  const deadline = elapsed() + limitMs;
  for (let pauseMs = leastPauseMs; ; pauseMs = Math.min(pauseMs + 2, longestPauseMs)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (elapsed() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await delay(pauseMs);
  }
};

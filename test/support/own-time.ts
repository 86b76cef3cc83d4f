const tickMs = 10;

/**
 * Counts the milliseconds in which this process could run: a tick that comes late counts once, however late it is. So
 * what the same process does by timers of its own takes no more of them on a busy machine.
 * @returns ends the count and gives it
 */
export const countOwnTime = (): (() => number) => {
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), tickMs);
  return () => {
    clearInterval(timer);
    return ticks * tickMs;
  };
};

const tickMs = 10;

/**
 * Counts the milliseconds in which this process could run: a late tick counts once, however late it is. So
 * work by timers of the same process takes no more of them on a busy machine.
 * @returns a function that ends the count and returns it
 */
export const countOwnTime = (): (() => number) => {
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), tickMs);
  return () => {
    clearInterval(timer);
    return ticks * tickMs;
  };
};

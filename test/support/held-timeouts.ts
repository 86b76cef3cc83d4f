import { jest } from '@jest/globals';

const always = ['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate'] as const;
const timeouts = ['clearImmediate', 'setTimeout', 'clearTimeout', 'clearInterval'] as const;

const hold = (
  doNotFake: readonly ((typeof always)[number] | (typeof timeouts)[number])[],
): void => {
  // An integer, so that sums and differences are exact.
  const elapsed = Math.ceil(performance.now());
  jest.useFakeTimers({ doNotFake: [...doNotFake, 'setInterval'] });
  // Without this, the fake clock would begin at 0.
  jest.advanceTimersByTime(elapsed);
};

/**
 * Stops the time of timeouts and of `performance.now`, until a test advances it with `jest.advanceTimersByTimeAsync`.
 * Sockets and files go on. `jest.useRealTimers` ends it.
 */
export const holdTimeouts = (): void => {
  hold(always);
};

/** Stops only `performance.now`, not timeouts. */
export const holdStopwatch = (): void => {
  hold([...always, ...timeouts]);
};

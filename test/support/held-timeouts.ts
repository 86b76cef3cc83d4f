import { jest } from '@jest/globals';

const always = ['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate'] as const;
const timeouts = ['clearImmediate', 'setTimeout', 'clearTimeout', 'clearInterval'] as const;

const hold = (
  doNotFake: readonly ((typeof always)[number] | (typeof timeouts)[number])[],
): void => {
  // Whole, so that sums and differences are exact.
  const elapsed = Math.ceil(performance.now());
  jest.useFakeTimers({ doNotFake: [...doNotFake, 'setInterval'] });
  // Otherwise it would begin again at 0.
  jest.advanceTimersByTime(elapsed);
};

/**
 * From now on time stands still for timeouts and for what is measured, until a test lets it pass with
 * `jest.advanceTimersByTimeAsync`. Sockets and files go on. `jest.useRealTimers` ends it.
 */
export const holdTimeouts = (): void => {
  hold(always);
};

/** The same only for what is measured with `performance.now`: timeouts go on. */
export const holdStopwatch = (): void => {
  hold([...always, ...timeouts]);
};

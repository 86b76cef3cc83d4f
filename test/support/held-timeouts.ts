import { jest } from '@jest/globals';

type Real = NonNullable<Parameters<typeof jest.useFakeTimers>[0]>['doNotFake'];

const immediate = ['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate'] as const;
const all = [...immediate, 'clearImmediate', 'setTimeout', 'clearTimeout'] as const;

const hold = (doNotFake: Real): void => {
  const elapsed = performance.now();
  jest.useFakeTimers({ doNotFake });
  // Otherwise it would begin again at 0.
  jest.advanceTimersByTime(elapsed);
};

/**
 * From now on time stands still for timeouts and for what is measured, until a test lets it pass with
 * `jest.advanceTimersByTimeAsync`. Sockets and files go on. `jest.useRealTimers` ends it.
 */
export const holdTimeouts = (): void => {
  hold([...immediate, 'setInterval']);
};

/** The same only for what is measured with `performance.now`: timeouts go on. */
export const holdStopwatch = (): void => {
  hold([...all, 'setInterval', 'clearInterval']);
};

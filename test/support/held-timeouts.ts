import { jest } from '@jest/globals';

/**
 * From now on time stands still for timeouts and for what is measured, until a test lets it pass with
 * `jest.advanceTimersByTimeAsync`. Sockets and files go on. `jest.useRealTimers` ends it.
 */
export const holdTimeouts = (): void => {
  jest.useFakeTimers({
    doNotFake: ['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate', 'setInterval'],
  });
};

import { jestExpect } from '@jest/expect';
import type * as Globals from '@jest/globals';
import type NativeEnvironment from './environment.ts';

// The module `@jest/globals`. Modules stay loaded for many test files, and an imported variable follows its
// export, so each call reaches the file that runs now.

export const expect = jestExpect;
export let test: typeof Globals.test;
export let describe: typeof Globals.describe;
export let beforeAll: typeof Globals.beforeAll;
export let beforeEach: typeof Globals.beforeEach;
export let afterEach: typeof Globals.afterEach;
export let afterAll: typeof Globals.afterAll;
export let jest: ReturnType<typeof jestOf>;

type Circus = Pick<
  typeof Globals,
  'test' | 'describe' | 'beforeAll' | 'beforeEach' | 'afterEach' | 'afterAll'
>;

export const enterFile = (circus: Circus, environment: NativeEnvironment): void => {
  ({ test, describe, beforeAll, beforeEach, afterEach, afterAll } = circus);
  jest = jestOf(environment);
};

const jestOf = ({ moduleMocker: mocker, fakeTimersModern: timers }: NativeEnvironment) => ({
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
  useFakeTimers: timers.useFakeTimers.bind(timers),
  useRealTimers: timers.useRealTimers.bind(timers),
  now: timers.now.bind(timers),
  setSystemTime: timers.setSystemTime.bind(timers),
  advanceTimersByTime: timers.advanceTimersByTime.bind(timers),
  advanceTimersByTimeAsync: timers.advanceTimersByTimeAsync.bind(timers),
  setTimeout: (ms: number) => Reflect.set(globalThis, Symbol.for('TEST_TIMEOUT_SYMBOL'), ms),
});

import { flushCompileCache } from 'node:module';
import { ModernFakeTimers } from '@jest/fake-timers';
import type { Config } from '@jest/types';
import { ModuleMocker } from 'jest-mock';

/** The state of jest-circus for one file. */
const kept = new Set(['EVENT_HANDLERS', 'JEST_STATE_SYMBOL', 'TEST_TIMEOUT_SYMBOL']);

/**
 * Uses the process itself, without a vm context for each file. Consecutive files in a process share its
 * modules, so these load once. Everything that Jest changed for a file is restored afterwards.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly #console = globalThis.console;
  readonly #exit = process.exit.bind(process);

  constructor({ projectConfig }: { projectConfig: Config.ProjectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  getVmContext(): null {
    return null;
  }

  setup(): Promise<void> {
    return Promise.resolve();
  }

  teardown(): Promise<void> {
    // Otherwise the process writes all of it at its end, when Jest gives it half a second.
    flushCompileCache();
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    globalThis.console = this.#console;
    process.exit = this.#exit;
    for (const key of Object.getOwnPropertySymbols(globalThis)) {
      if (kept.has(key.description ?? '')) Reflect.deleteProperty(globalThis, key);
    }
    return Promise.resolve();
  }
}

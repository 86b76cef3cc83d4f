import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from '@jest/types';
import type NativeEnvironment from './environment.ts';
import { enterFile } from './globals.ts';

const require = createRequire(import.meta.url);
const globals = {
  url: pathToFileURL(join(import.meta.dirname, 'globals.ts')).href,
  shortCircuit: true,
};

// A process that runs out of work on its own also takes its heap apart, for which Jest's half second is too short.
process.once('beforeExit', () => process.exit());

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? globals : next(specifier, context),
});

/**
 * The parts of `jest-runtime` that Jest and jest-circus need, with Node's own modules instead of vm
 * modules.
 */
export default class NativeRuntime {
  readonly #environment: NativeEnvironment;

  constructor(_config: Config.ProjectConfig, environment: NativeEnvironment) {
    this.#environment = environment;
  }

  /** jest-circus holds the tests of one file, so it is evaluated for each. */
  requireInternalModule(path: string): unknown {
    Reflect.deleteProperty(require.cache, path);
    return require(path);
  }

  requireModule(path: string): unknown {
    return require(path);
  }

  setGlobalsForRuntime(circus: Parameters<typeof enterFile>[0]): void {
    enterFile(circus, this.#environment);
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  unstable_importModule(path: string): Promise<unknown> {
    return import(pathToFileURL(path).href);
  }

  getSourceMaps(): Map<string, string> {
    return new Map();
  }

  getAllCoverageInfoCopy(): undefined {
    return undefined;
  }

  enterTestCode(): void {
    return undefined;
  }

  leaveTestCode(): void {
    return undefined;
  }

  teardown(): void {
    return undefined;
  }
}

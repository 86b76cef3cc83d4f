import { statfsSync } from 'node:fs';

/** Databases, servers and browsers of a run keep their files in memory where there is room for them. */
const inMemory = '/dev/shm';
const neededBytes = 2 * 2 ** 30;
const hasRoom = () => {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize > neededBytes;
  } catch {
    return false;
  }
};
if (hasRoom()) process.env.TMPDIR = inMemory;

const shared = {
  // Node runs the tests as it runs the program, without a vm context for each file.
  testEnvironment: '<rootDir>/test/runner/environment.ts',
  runtime: '<rootDir>/test/runner/runtime.ts',
  transform: {},
  // The package that `make dist` makes has the name of the project.
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/'],
};

/** @param servers the folder with what starts the servers of the suite */
const suite = (name, servers) => ({
  ...shared,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  ...(servers && {
    globalSetup: `<rootDir>/test/support/${servers}/start-servers.ts`,
    globalTeardown: `<rootDir>/test/support/${servers}/stop-servers.ts`,
  }),
});

export default {
  // Against hanging, never a measure: machines are busy.
  testTimeout: 240_000,
  testSequencer: '<rootDir>/test/runner/file-order.js',
  reporters: ['default', '<rootDir>/test/runner/slowest-files.ts'],
  projects: [
    suite('unit'),
    suite('use-cases'),
    suite('simulation'),
    suite('contract', 'servers'),
    suite('http', 'servers'),
    suite('edge'),
    suite('dashboard', 'servers'),
    suite('system', 'servers'),
    // What a release needs beyond the rest: `make test-all`.
    suite('release', 'servers'),
    // Needs root: `make image-check`, which `make test-all` includes.
    suite('machines'),
  ],
};

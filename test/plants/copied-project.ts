import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
// Keeps temporary folders in memory if there is room.
import '../../jest.config.js';
import { plantTree } from '../support/planted-tree.ts';
import type { RanTest } from './plant.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The servers are shared by all copies. A copy is removed with all effects of a broken law. */
const config = `import { join } from 'node:path';
import config from './jest.config.js';
process.env.TMPDIR = join(import.meta.dirname, 'tmp');
const projects = config.projects
  .filter(({ displayName }) => displayName !== 'machines')
  .map(({ globalSetup, globalTeardown, ...project }) => project);
export default { ...config, projects, reporters: [], cacheDirectory: '.cache/jest' };
`;

/** A run that takes longer is considered hung. */
const longestRunMs = 300_000;

interface RanTests {
  readonly tests: readonly RanTest[];
  /** Jest's message, for example if a module cannot be loaded. */
  readonly said: string;
}

/** A copy of the work tree in which laws are broken. */
export interface CopiedProject {
  readonly folder: string;
  /** @throws Error with the reason why the patch does not apply */
  apply(patch: string): Promise<void>;
  takeBack(patch: string): Promise<void>;
  /** The tests of these files whose titles include one of these texts. */
  test(
    files: readonly RegExp[],
    titles: readonly string[],
    options?: { readonly workers: number },
  ): Promise<RanTests>;
  remove(): Promise<void>;
}

export const copyProject = async (): Promise<CopiedProject> => {
  const { stdout } = await run(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z'],
    { cwd: root, maxBuffer: 2 ** 26 },
  );
  const top = new Set(stdout.split('\0').map((path) => path.split('/', 1).join()));
  top.delete('');
  const tree = await plantTree([...top], {
    'plants.config.js': config,
    'tmp/README': 'Temporary files of tests.',
  });
  const running = new Set<ChildProcess>();
  const git = (...args: readonly string[]) =>
    run('git', ['apply', '--whitespace=nowarn', ...args], {
      cwd: tree.folder,
      env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(tree.folder) },
    });

  let isRemoved = false;
  /**
   * The exit code is ignored, because tests are expected to fail. Never returns once the copy is removed.
   */
  const jest = (args: readonly string[]): Promise<string> =>
    new Promise((done) => {
      const child = execFile(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js', ...args],
        {
          cwd: tree.folder,
          timeout: longestRunMs,
          killSignal: 'SIGKILL',
          maxBuffer: 2 ** 28,
          env: { ...process.env, NODE_COMPILE_CACHE: join(root, '.cache/compile') },
        },
        (_error, _stdout, stderr) => {
          running.delete(child);
          if (!isRemoved) done(stderr);
        },
      );
      running.add(child);
    });

  return {
    folder: tree.folder,
    apply: async (patch) => void (await git(patch)),
    takeBack: async (patch) => void (await git('--reverse', patch)),
    test: async (files, titles, { workers } = { workers: 1 }) => {
      const results = join(tree.folder, 'plants.results.json');
      await rm(results, { force: true });
      const said = await jest([
        ...['--config', 'plants.config.js', '--json', '--outputFile', results, '--passWithNoTests'],
        ...[`--maxWorkers=${workers}`, '--testNamePattern', titles.map(escaped).join('|')],
        ...['--testPathPatterns', ...files.map(({ source }) => source)],
      ]);
      return runIn(results, tree.folder, said);
    },
    remove: async () => {
      isRemoved = true;
      const ended = [...running].map((child) => once(child, 'close'));
      for (const child of running) child.kill('SIGKILL');
      await Promise.all(ended);
      await tree.remove();
    },
  };
};

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

interface Results {
  readonly testResults: readonly {
    readonly name: string;
    /** The reason why it could not run, or its failures. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** @param stderr contains the reason if there are no results */
const runIn = async (path: string, folder: string, stderr: string): Promise<RanTests> => {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return { tests: [], said: stderr };
  const { testResults } = JSON.parse(text) as Results;
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status, failureMessages }) => ({
      file: relative(folder, name),
      title: fullName,
      status,
      failures: failureMessages,
    })),
  );
  return { tests, said: testResults.map(({ message }) => message).join('\n') };
};

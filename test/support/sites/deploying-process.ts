import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Deploy } from '../../../src/sites/domain/site.ts';
import type { UploadProgress } from '../../../src/sites/ports.ts';

export interface Orders {
  readonly folder: string;
  readonly archives: readonly string[];
  /** Whether it yields to the event loop for a while before it reads a file. */
  readonly isSlow?: boolean;
  /** The step where it stops forever. */
  readonly stuckAt?: Pick<UploadProgress, 'step' | 'done'>;
}

export interface Outcome {
  readonly deploys: readonly Deploy[];
  readonly listing: readonly string[];
  /** The peak of memory. */
  readonly largestMiB: number;
}

const script = join(import.meta.dirname, 'deploy-archives.ts');
const withoutWarnings = '--disable-warning=ExperimentalWarning';

/** Provides a folder for the process's records, because the process may be killed and never removes them. */
const inRecords = async <T>(work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> => {
  const records = await mkdtemp(join(tmpdir(), 'animal-store-records-'));
  try {
    return await work({ ...process.env, TMPDIR: records });
  } finally {
    await rm(records, { recursive: true });
  }
};

const commandFor = (orders: Orders): readonly string[] => [
  process.execPath,
  withoutWarnings,
  script,
  JSON.stringify(orders),
];

export const deployInProcess = (orders: Orders): Promise<Outcome> => run(commandFor(orders));

/** Deploys on a separate disk of the given size. */
export const deployOnDisk = (size: string, orders: Orders): Promise<Outcome> => {
  const mount = `mount -t tmpfs -o size=${size} none "$0" && exec "$@"`;
  return run(['unshare', '-rm', 'sh', '-c', mount, orders.folder, ...commandFor(orders)]);
};

/** Kills the process when it is stuck at the requested step, without waiting for anything. */
export const killWhereStuck = (orders: Orders): Promise<void> =>
  inRecords((env) => killStuck(commandFor(orders), env));

const killStuck = async (
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> => {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [
    unknown,
  ];
  child.kill('SIGKILL');
  if (String(said) !== 'stuck\n') throw new Error(`it never got stuck: ${String(said)}`);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
};

const run = async ([command = '', ...args]: readonly string[]): Promise<Outcome> => {
  try {
    const { stdout } = await inRecords((env) =>
      promisify(execFile)(command, args, { env, maxBuffer: 2 ** 26 }),
    );
    return JSON.parse(stdout) as Outcome;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    const hint =
      command === 'unshare'
        ? 'A disk of its own needs a mount namespace: be root, or allow unprivileged user namespaces. '
        : '';
    throw new Error(`${hint}${stderr || message}`, { cause: error });
  }
};

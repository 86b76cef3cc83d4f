import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Deploy } from '../../../src/sites/domain/deploy.ts';
import type { UploadProgress } from '../../../src/sites/ports.ts';

export interface Orders {
  /** Of the stored files. */
  readonly folder: string;
  readonly archives: readonly string[];
  /** Whether it yields to the event loop for a while before it reads a file. */
  readonly isSlow?: boolean;
  /** Where it stops working, for good. */
  readonly stuckAt?: Pick<UploadProgress, 'step' | 'done'>;
}

export interface Outcome {
  readonly deploys: readonly Deploy[];
  /** See listingOf. */
  readonly listing: readonly string[];
  /** Peak memory. */
  readonly largestMiB: number;
}

const script = join(import.meta.dirname, 'deploy-archives.ts');
const withoutWarnings = '--disable-warning=ExperimentalWarning';
const commandFor = (orders: Orders): readonly string[] => [
  process.execPath,
  withoutWarnings,
  script,
  JSON.stringify(orders),
];

/** Deploys archives in a separate process. */
export const deployInProcess = (orders: Orders): Promise<Outcome> => run(commandFor(orders));

/** The same on a separate disk of the given size. */
export const deployOnDisk = (size: string, orders: Orders): Promise<Outcome> => {
  const mount = `mount -t tmpfs -o size=${size} none "$0" && exec "$@"`;
  return run(['unshare', '-rm', 'sh', '-c', mount, orders.folder, ...commandFor(orders)]);
};

/** Kills it with nothing to hold it up, where it is told to be stuck. */
export const killWhereStuck = async (orders: Orders): Promise<void> => {
  const [command = '', ...args] = commandFor(orders);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [
    unknown,
  ];
  child.kill('SIGKILL');
  if (String(said) !== 'stuck\n') throw new Error(`it never got stuck: ${String(said)}`);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
};

const run = async ([command = '', ...args]: readonly string[]): Promise<Outcome> => {
  try {
    const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 2 ** 26 });
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

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

const mostMsToStop = 5_000;
const started: ChildProcess[] = [];

/** Starts a Node program and waits until it answers at `url`. */
export const startProgram = async (
  args: readonly string[],
  url: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...environment },
  });
  started.push(child);
  for (let tries = 0; tries < 200; tries++) {
    if (child.exitCode !== null) break;
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer) return;
    await delay(50);
  }
  throw new Error(`${args.join(' ')} does not answer at ${url}`);
};

/** Where the servers of a comparison run, and where their load comes from. */
export const [serverCore, loadCore] = ['0', '1'];

/** A program on one core, and its standard error, to explain a missing answer. */
export interface PinnedProgram {
  readonly pid: number;
  readonly stderr: () => string;
}

export const startPinned = (
  core: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): PinnedProgram => {
  const child = spawn('taskset', ['-c', core, ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let written = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written += text));
  child.once('error', (error) => (written += error.message));
  if (child.pid === undefined) throw new Error('taskset of util-linux is missing');
  started.push(child);
  return { pid: child.pid, stderr: () => written };
};

/**
 * Keeps every core awake at the lowest priority, for ten minutes at most. On a virtual machine waking an idle core
 * costs a server more than answering a request does, and a slow server, whose client idles, pays it most often:
 * without this the ratio of two servers says more of the machine than of them.
 */
export const keepCoresAwake = (): void => {
  const spin = 'const end = Date.now() + 600_000; while (Date.now() < end);';
  for (let core = 0; core < availableParallelism(); core++) {
    started.push(spawn('nice', ['-n', '19', process.execPath, '-e', spin], { stdio: 'ignore' }));
  }
};

export const stopPrograms = async (): Promise<void> => {
  await Promise.all(
    started
      .filter((child) => child.exitCode === null && child.signalCode === null)
      .map(async (child) => {
        const ended = once(child, 'exit');
        child.kill();
        const impatience = setTimeout(() => child.kill('SIGKILL'), mostMsToStop);
        await ended;
        clearTimeout(impatience);
      }),
  );
};

export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
};

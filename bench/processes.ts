import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

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
      .filter((child) => child.exitCode === null)
      .map((child) => {
        const ended = once(child, 'exit');
        child.kill();
        return ended;
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

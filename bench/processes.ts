import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
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

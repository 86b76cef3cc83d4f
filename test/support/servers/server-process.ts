import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { until } from '../until.ts';

/** A server that tests stop, kill and freeze. It keeps its port. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: () => number | undefined;
  /** Ends the server gracefully and removes its folder. */
  stop(): Promise<void>;
  /** Kills the server, as in a crash. `restart` continues with the data on its disk. */
  kill(): Promise<void>;
  /** Shuts the server down gracefully. `restart` continues with its data. */
  shutDown(): Promise<void>;
  /** Freezes the server and waits until it stands still. */
  freeze(): Promise<void>;
  thaw(): void;
  restart(): Promise<void>;
}

interface Launching {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  /** The folder of the server's `log` file. */
  readonly folder: string;
  readonly guard: Writable;
  /** Runs once, before the first start. */
  readonly prepare?: () => Promise<void>;
  readonly launch: () => ChildProcess;
  /** Fails while the server does not answer. */
  readonly ask: () => Promise<unknown>;
  readonly standsStill: (pid: number) => boolean;
}

export const ended = async (child: ChildProcess): Promise<void> => {
  child.ref();
  if (child.kill(0)) await once(child, 'exit');
};

export const startServer = async ({
  prepare = () => Promise.resolve(),
  ...of
}: Launching): Promise<ServerProcess> => {
  const { name, url, port, folder, guard } = of;
  const start = async (): Promise<ChildProcess> => {
    const child = of.launch();
    await until('it answers', () => {
      if (!child.kill(0)) throw new Error('it ended');
      return of.ask().then(
        () => true,
        () => false,
      );
    });
    return child;
  };
  const explain = async (cause: unknown): Promise<never> => {
    const tail = (await readFile(join(folder, 'log'), 'utf8').catch(() => '')).slice(-3_000);
    guard.end();
    throw new Error(`${name} did not start; its log ends:\n${tail}`, { cause });
  };
  let server = await prepare().then(start).catch(explain);
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    server.kill(signal);
    server.kill('SIGCONT'); // A frozen process leaves SIGTERM pending.
    await ended(server);
    guard.write('\n');
  };
  return {
    url,
    port,
    pid: () => server.pid,
    stop: async () => {
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
      guard.end();
    },
    kill: () => end('SIGKILL'),
    shutDown: () => end('SIGTERM'),
    freeze: async () => {
      server.kill('SIGSTOP');
      // One thread takes the signal and stops the others, which answer until then.
      await until('it stands still', () => of.standsStill(server.pid ?? 0));
    },
    thaw: () => void server.kill('SIGCONT'),
    restart: async () => {
      await end('SIGTERM');
      server = await start().catch(explain);
    },
  };
};

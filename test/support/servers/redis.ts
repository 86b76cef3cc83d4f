import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, findServer, libraryEnvironment, startGuard } from './debian-server.ts';
import { neverMs, until } from '../until.ts';

/** A server without persistence: it is empty after every restart. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
  /** The server vanishes as in a crash; `restart` brings an empty one to the same port. */
  kill(): Promise<void>;
  /** Returns once it is frozen, which takes a moment. */
  freeze(): Promise<void>;
  thaw(): void;
  restart(): Promise<void>;
}

export const redisLibraries = 'redis-tools libjemalloc2 liblua5.1-0 liblzf1 libatomic1';
const nothingKept = ['--save', '', '--appendonly', 'no'];

const ping = async (port: number): Promise<void> => {
  const socket = connect(port, '127.0.0.1');
  try {
    socket.setTimeout(neverMs, () => socket.destroy(new Error('no answer')));
    socket.write('PING\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    // One that asks for a password answers, too.
    const answers = /^(?:\+PONG\r\n|-NOAUTH )/.test(answer.toString());
    if (!answers) throw new Error(`PING was answered ${String(answer)}`);
  } finally {
    socket.destroy();
  }
};

const ended = async (child: ChildProcess): Promise<void> => {
  child.ref();
  if (child.kill(0)) await once(child, 'exit');
};

/** Linux says it in the third field of proc_pid_stat(5), behind the name in brackets. */
const standsStill = async ({ pid = 0 }: ChildProcess): Promise<boolean> =>
  (await readFile(`/proc/${pid}/stat`, 'utf8')).includes(') T ');

interface RedisOptions {
  readonly extraArguments?: readonly string[];
  readonly sentinel?: string;
}

export const startRedis = async ({
  extraArguments = [],
  sentinel,
}: RedisOptions = {}): Promise<RedisServer> => {
  const name = sentinel === undefined ? 'redis-server' : 'redis-sentinel';
  const { executable, root } = await findServer(name, [name, ...redisLibraries.split(' ')]);
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const log = join(folder, 'log');
  const guard = startGuard(folder);
  const port = await findFreePort();

  // A sentinel writes what it learns into its file.
  const settings = join(folder, 'sentinel.conf');
  if (sentinel !== undefined) await writeFile(settings, sentinel);

  const launch = (): ChildProcess => {
    const place = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder];
    const own = sentinel === undefined ? [...place, ...nothingKept] : [settings, ...place];
    const all = [...own, ...extraArguments];
    const env = { ...process.env, ...libraryEnvironment(root) };
    const output = openSync(log, 'a');
    const child = spawn(executable, all, { env, stdio: ['ignore', output, output] });
    closeSync(output);
    child.unref();
    guard.write(`${child.pid ?? ''}\n`);
    return child;
  };

  const start = async (): Promise<ChildProcess> => {
    const child = launch();
    const answers = () => {
      if (!child.kill(0)) throw new Error('it ended');
      return ping(port).then(
        () => true,
        () => false,
      );
    };
    await until('it answers', answers);
    return child;
  };

  const explain = async (cause: unknown): Promise<never> => {
    const tail = (await readFile(log, 'utf8').catch(() => '')).slice(-3_000);
    guard.end();
    throw new Error(`${name} did not start; its log ends:\n${tail}`, { cause });
  };

  let server = await start().catch(explain);
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    server.kill(signal);
    server.kill('SIGCONT'); // A frozen process leaves SIGTERM pending.
    await ended(server);
    guard.write('\n');
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    stop: async () => {
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
      guard.end();
    },
    kill: () => end('SIGKILL'),
    freeze: async () => {
      server.kill('SIGSTOP');
      await until('it stands still', () => standsStill(server));
    },
    thaw: () => void server.kill('SIGCONT'),
    restart: async () => {
      await end('SIGTERM');
      server = await start().catch(explain);
    },
  };
};

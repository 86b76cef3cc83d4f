import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, findServer, libraryEnvironment, startGuard } from './debian-server.ts';
import { startServer, type ServerProcess } from './server-process.ts';
import { neverMs } from '../until.ts';

/** A server without persistence: it is empty after every restart. */
export type RedisServer = ServerProcess;

export const redisLibraries = 'redis-tools libjemalloc2 liblua5.1-0 liblzf1 libatomic1';
const nothingKept = ['--save', '', '--appendonly', 'no'];

const ping = async (port: number): Promise<void> => {
  const socket = connect(port, '127.0.0.1');
  try {
    socket.setTimeout(neverMs, () => socket.destroy(new Error('no answer')));
    socket.write('PING\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    // A server that requires a password answers too.
    const answers = /^(?:\+PONG\r\n|-NOAUTH )/.test(answer.toString());
    if (!answers) throw new Error(`PING was answered ${String(answer)}`);
  } finally {
    socket.destroy();
  }
};

/** Reads the third field of proc_pid_stat(5) in Linux, after the name in brackets. */
const standsStill = (pid: number): boolean =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') T ');

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
  const guard = startGuard(folder);
  const port = await findFreePort();

  // A sentinel writes its knowledge into its file.
  const settings = join(folder, 'sentinel.conf');
  if (sentinel !== undefined) await writeFile(settings, sentinel);

  const launch = (): ChildProcess => {
    const place = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder];
    const own = sentinel === undefined ? [...place, ...nothingKept] : [settings, ...place];
    const all = [...own, ...extraArguments];
    const env = { ...process.env, ...libraryEnvironment(root) };
    const output = openSync(join(folder, 'log'), 'a');
    const child = spawn(executable, all, { env, stdio: ['ignore', output, output] });
    closeSync(output);
    child.unref();
    guard.write(`${child.pid ?? ''}\n`);
    return child;
  };

  const url = `redis://127.0.0.1:${port}`;
  return startServer({
    name,
    url,
    port,
    folder,
    guard,
    launch,
    standsStill,
    ask: () => ping(port),
  });
};

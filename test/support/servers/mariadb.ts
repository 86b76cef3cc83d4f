import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, globSync, openSync, readFileSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { findFreePort, findServer, libraryEnvironment, startGuard } from './debian-server.ts';
import { ended, startServer, type ServerProcess } from './server-process.ts';
import { neverMs } from '../until.ts';

export type MariaDb = ServerProcess;

export const mariaDbPackages =
  'mariadb-server-core libaio1|libaio1t64 libnuma1 liburing2 libpcre2-8-0';
const memory = ['--innodb-buffer-pool-size=128M', '--innodb-log-file-size=32M'];
/** Does not wait for the disk. Writes of a killed server survive; only a failing machine would lose them. */
const unsynced = ['--debug-no-sync', '--innodb-flush-method=nosync'];
const network = ['--bind-address=127.0.0.1', '--skip-name-resolve', '--max-connections=200'];

const execute = async (url: string, sql: string): Promise<void> => {
  const connection = await createConnection(url);
  await connection.query({ sql, timeout: neverMs }).finally(() => connection.destroy());
};

export const createDatabase = async (
  serverUrl: string,
): Promise<{ url: string; drop(): Promise<void> }> => {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const server = Object.assign(new URL(serverUrl), { pathname: '/' }).href;
  await execute(server, `create database ${name} character set utf8mb4 collate utf8mb4_bin`);
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
  return { url, drop: () => execute(server, `drop database if exists ${name}`) };
};

/** Whether all its threads are stopped. */
const standsStill = (pid: number): boolean =>
  globSync(`/proc/${pid}/task/*/stat`).every((file) => {
    try {
      return readFileSync(file, 'utf8').includes(') T ');
    } catch {
      // The thread ended meanwhile.
      return false;
    }
  });

export interface MariaDbOptions {
  readonly extraArguments?: readonly string[];
  /** Called at each start, for arguments that may change. */
  readonly startArguments?: () => readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Runs the server as another user. */
  readonly runAs?: { readonly uid: number; readonly gid: number };
  /** The server gets its data, including users, from another server. */
  readonly startsEmpty?: boolean;
  /** The parent of its folder. */
  readonly place?: string;
}

export const startMariaDb = async (options: MariaDbOptions = {}): Promise<MariaDb> => {
  const { runAs } = options;
  const { executable, root } = await findServer('mariadbd', mariaDbPackages.split(' '));
  const [tables] = globSync(join(root, 'usr/share/{mysql,mariadb}/*_system_tables.sql'));
  if (tables === undefined) throw new Error(`no mysql_system_tables.sql in ${root}/usr/share`);
  const folder = await mkdtemp(join(options.place ?? tmpdir(), 'mariadb-'));
  if (runAs) await chown(folder, runAs.uid, runAs.gid);
  const guard = startGuard(folder);
  const port = await findFreePort();
  const url = `mysql://root@127.0.0.1:${port}`;

  const launch = (input: string, ...args: readonly string[]): ChildProcess => {
    const user = process.getuid?.() === 0 && !runAs ? ['--user=root'] : [];
    const places = [
      `--datadir=${folder}/data`,
      `--tmpdir=${folder}`,
      `--lc-messages-dir=${dirname(tables)}`,
    ];
    const all = ['--no-defaults', ...user, ...places, ...memory, ...unsynced, ...args];
    const env = { ...process.env, ...libraryEnvironment(root), ...options.environment };
    const output = openSync(join(folder, 'log'), 'a');
    const child = spawn(executable, all, { env, stdio: ['pipe', output, output], ...runAs });
    closeSync(output);
    child.unref();
    child.stdin?.on('error', () => undefined).end(input);
    guard.write(`${child.pid ?? ''}\n`);
    return child;
  };

  const prepare = async (): Promise<void> => {
    await mkdir(join(folder, 'data'));
    if (runAs) await chown(join(folder, 'data'), runAs.uid, runAs.gid);
    if (options.startsEmpty) return;
    // The second file creates root@127.0.0.1, without a password.
    const files = [tables, tables.replace(/\.sql$/, '_data.sql')];
    const sql = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    const child = launch(`create database mysql;\nuse mysql;\n${sql.join('\n')}`, '--bootstrap');
    await ended(child);
    if (child.exitCode !== 0) throw new Error('the system tables could not be made');
  };

  const launchServer = (): ChildProcess => {
    const own = [`--port=${port}`, `--socket=${folder}/socket`, `--pid-file=${folder}/pid`];
    const data = ['--character-set-server=utf8mb4', '--innodb-flush-log-at-trx-commit=1'];
    const others = [...(options.extraArguments ?? []), ...(options.startArguments?.() ?? [])];
    return launch('', ...own, ...network, ...data, ...others);
  };

  return startServer({
    name: 'mariadbd',
    url,
    port,
    folder,
    guard,
    prepare,
    launch: launchServer,
    standsStill,
    ask: () => execute(url, 'select 1'),
  });
};

interface LockedTable {
  /** The number of connections to the same database that wait for the lock. */
  waiting(): Promise<number>;
  unlock(): Promise<void>;
  /** Unlocks as well. */
  close(): Promise<void>;
}

/** Locks a table for all other connections, like a manual repair. */
export const lockTable = async (url: string, table: string): Promise<LockedTable> => {
  const connection = await createConnection(url);
  await connection.query(`lock tables ${table} write`);
  const database = new URL(url).pathname.slice(1);
  return {
    waiting: async () => {
      const [all] = await connection.query<RowDataPacket[]>('show processlist');
      return all.filter(
        ({ db, State: state }) => db === database && String(state).startsWith('Waiting for table'),
      ).length;
    },
    unlock: async () => {
      await connection.query('unlock tables');
    },
    close: () => connection.end(),
  };
};

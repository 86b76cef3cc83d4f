import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { findProgram } from './mysql-programs.ts';

interface PrivateServer {
  /** Of its one, empty database. */
  readonly url: string;
  stop(): Promise<void>;
}

const startMs = 60_000;

/** Ends the server also if this process is killed: its input ends then. */
const script = `
  exec 3<&0
  "$@" </dev/null 3<&- &
  server=$!
  (cat <&3 >/dev/null; kill -9 $server) &
  wait $server
`;

/** A MariaDB for one check, which only we reach. @param folder for all that it writes */
export const startPrivateServer = async (
  folder: string,
  toolsDir: string | undefined,
): Promise<PrivateServer | { readonly untried: string }> => {
  const program = findProgram('server', toolsDir);
  if (program === undefined) return { untried: 'no MariaDB server is installed on this machine' };
  const [log, socket] = [join(folder, 'log'), join(folder, 'socket')];
  const shell = await launch([program, ...(await argumentsFor(folder, socket))], log);
  const ended = once(shell, 'close');
  const stop = async () => {
    shell.stdin?.end();
    await ended;
  };
  if (!(await answers(socket, () => shell.exitCode !== null))) {
    await stop();
    const said = (await readFile(log, 'utf8')).trim().split('\n').at(-1) ?? '';
    return { untried: `${program} did not start: ${said}` };
  }
  const url = `mysql://root@localhost/restored?socketPath=${encodeURIComponent(socket)}`;
  return { url, stop };
};

const argumentsFor = async (folder: string, socket: string): Promise<readonly string[]> => {
  const [data, files] = [join(folder, 'data'), join(folder, 'files')];
  for (const one of [data, files]) await mkdir(one, { mode: 0o700 });
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
  const places = [`--datadir=${data}`, `--tmpdir=${folder}`, `--socket=${socket}`];
  // Without access control it needs no tables of its own. Nothing outlasts it, so nothing waits for the disk.
  const ways = ['--skip-networking', '--skip-grant-tables', '--innodb-flush-log-at-trx-commit=0'];
  // A dump can read and write no other files by statements.
  const confined = [`--secure-file-priv=${files}`, `--plugin-dir=${files}`, '--local-infile=0'];
  const pid = `--pid-file=${join(folder, 'pid')}`;
  return ['--no-defaults', ...asRoot, ...places, pid, ...ways, ...confined];
};

const launch = async (call: readonly string[], log: string) => {
  const output = openSync(log, 'a', 0o600);
  const shell = spawn('/bin/sh', ['-c', script, 'sh', ...call], {
    stdio: ['pipe', output, output],
  });
  closeSync(output);
  await once(shell, 'spawn');
  return shell;
};

/** Makes its database. @returns false when it ended, or takes too long */
const answers = async (socketPath: string, hasEnded: () => boolean): Promise<boolean> => {
  for (const since = performance.now(); performance.now() - since < startMs;) {
    if (hasEnded()) return false;
    try {
      const connection = await createConnection({ socketPath, user: 'root' });
      await connection.query('create database restored character set utf8mb4 collate utf8mb4_bin');
      connection.destroy();
      return true;
    } catch {
      await delay(100);
    }
  }
  return false;
};

import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';

const cache = join(import.meta.dirname, '../../..', '.cache', 'debian');

const run = (command: string, args: readonly string[], cwd: string): Promise<unknown> =>
  promisify(execFile)(command, args, {
    cwd,
    timeout: 300_000,
    env: { ...process.env, LC_ALL: 'C' },
  });

const findIn = (folders: readonly string[], name: string): string | undefined =>
  folders.map((folder) => join(folder, name)).find((path) => existsSync(path));

const findUnpacked = (root: string, name: string): string | undefined =>
  findIn([join(root, 'usr/sbin'), join(root, 'usr/bin')], name);

const download = async (packages: readonly string[], folder: string): Promise<void> => {
  // Apt as root would download as the user _apt, who may not be able to reach this folder.
  const common = ['-o', 'Debug::NoLocking=1', '-o', 'APT::Sandbox::User=root'];
  const fetchAll = async (options: readonly string[]): Promise<void> => {
    const certain = packages.filter((entry) => !entry.includes('|'));
    if (certain.length > 0) await run('apt-get', [...options, 'download', ...certain], folder);
    for (const entry of packages.filter((one) => !certain.includes(one))) {
      const [first = '', ...others] = entry.split('|');
      let attempt = run('apt-get', [...options, 'download', first], folder);
      for (const other of others) {
        attempt = attempt.catch(() => run('apt-get', [...options, 'download', other], folder));
      }
      await attempt;
    }
  };
  try {
    await fetchAll(common);
  } catch {
    // The machine's lists may be missing or outdated and only root may refresh them, so private ones are used.
    const apt = join(folder, 'apt');
    await mkdir(join(apt, 'state/lists/partial'), { recursive: true });
    await mkdir(join(apt, 'cache/archives/partial'), { recursive: true });
    const options = [...common, '-o', `Dir::State=${apt}/state`, '-o', `Dir::Cache=${apt}/cache`];
    options.push('-o', 'Dir::State::status=/var/lib/dpkg/status');
    await run('apt-get', [...options, 'update'], folder);
    await fetchAll(options);
  }
};

const install = async (name: string, packages: readonly string[], root: string): Promise<void> => {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${root}.`);
  try {
    await download(packages, folder);
    const unpacked = join(folder, 'root');
    for (const file of await readdir(folder)) {
      if (file.endsWith('.deb')) await run('dpkg', ['-x', file, unpacked], folder);
    }
    if (findUnpacked(unpacked, name) === undefined) throw new Error(`no ${name} in the packages`);
    await rename(unpacked, root).catch((error: unknown) => {
      // Another process unpacked it first, and its folder is equivalent.
      if (findUnpacked(root, name) === undefined) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Unpacks packages that no system includes. @returns where */
export const unpack = async (name: string, packages: readonly string[]): Promise<string> => {
  const root = join(cache, name);
  if (findUnpacked(root, name) === undefined) await install(name, packages, root);
  return root;
};

/** An entry of `packages` may list names of other releases: `libaio1|libaio1t64`. */
export const findServer = async (
  name: string,
  packages: readonly string[],
): Promise<{ executable: string; root: string }> => {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const system = findIn([...path, '/usr/sbin', '/usr/bin', '/usr/local/sbin'], name);
  if (system !== undefined) return { executable: system, root: '/' };
  const root = join(cache, name);
  let cause: unknown = `${root} does not have it`;
  if (findUnpacked(root, name) === undefined) {
    await install(name, packages, root).catch((error: unknown) => (cause = error));
  }
  const executable = findUnpacked(root, name);
  if (executable !== undefined) return { executable, root };
  throw new Error(`${missing(name, packages)}\n${String(cause)}`, { cause });
};

/** Advice for servers that can be provided in another way. */
const ways: Readonly<Record<string, string>> = {
  mariadbd: 'set TEST_MYSQL_URL to a server of yours',
  'redis-server': 'set TEST_REDIS_URL to a server of yours',
  pebble: 'put pebble into PATH: https://github.com/letsencrypt/pebble/releases',
};

const missing = (name: string, packages: readonly string[]): string => {
  const way = ways[name] ?? `put ${name} into PATH`;
  const [wanted = name] = (packages[0] ?? name).split('|');
  return `${name} is missing and could not be downloaded. Install the package ${wanted}, or ${way}.`;
};

/** Environment variables with which an unpacked server finds its unpacked libraries. */
export const libraryEnvironment = (root: string): Readonly<Record<string, string>> => {
  if (root === '/') return {};
  const folders = globSync(join(root, '{lib,usr/lib}/*-linux-gnu'));
  const inherited = process.env['LD_LIBRARY_PATH'];
  return { LD_LIBRARY_PATH: [...folders, ...(inherited ? [inherited] : [])].join(delimiter) };
};

const givenPorts = new Set<number>();

/** Outgoing connections use higher ports, so none takes the port while the server is down. */
const firstPort = 15_000;
const lanes = 8;
const portsOfLane = Math.floor((32_000 - firstPort) / lanes);
/** Concurrent test files have different ports, because a port is chosen before it is used. */
const lane = (process.ppid + Number(process.env['JEST_WORKER_ID'] ?? 0)) % lanes;

/** Never returns a port twice, because its user may not listen yet, or may be down for now. */
export const findFreePort = async (): Promise<number> => {
  const port = firstPort + lanes * randomInt(portsOfLane) + lane;
  if (givenPorts.has(port)) return findFreePort();
  givenPorts.add(port);
  return (await isFreePort(port)) ? port : findFreePort();
};

/** Checks TCP and UDP, because a name server uses both. */
const isFreePort = async (port: number): Promise<boolean> => {
  const [host, connections, datagrams] = ['127.0.0.1', createServer(), createSocket('udp4')];
  const listening = [connections, datagrams].map((one) => once(one, 'listening'));
  connections.listen(port, host);
  datagrams.bind(port, host);
  const tried = await Promise.allSettled(listening);
  await new Promise((resolve) => connections.close(resolve));
  await new Promise<void>((resolve) => datagrams.close(resolve));
  return tried.every(({ status }) => status === 'fulfilled');
};

/**
 * A shell that outlives this process. When its input ends, it kills the last process id that it read and removes the
 * folder. An exit listener is not enough, because SIGKILL leaves no time for one.
 */
export const startGuard = (folder: string): Writable =>
  guardBy(
    'while read -r p; do pid=$p; done; [ -z "$pid" ] || { kill -9 $pid; sleep 0.2; }; rm -rf "$1"',
    folder,
  );

/** Like `startGuard`, for a folder with a mount. Unmounts lazily, because a process may still be in it. */
export const startMountGuard = (folder: string): Writable =>
  guardBy('while read -r _; do :; done; umount -l "$1" 2>/dev/null; rmdir "$1"', folder);

export const guardBy = (script: string, folder: string): Writable => {
  const args = ['-c', script, 'guard', folder];
  const shell = spawn('/bin/sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  return shell.stdin.on('error', () => undefined);
};

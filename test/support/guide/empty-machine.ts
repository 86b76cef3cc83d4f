import { execFile } from 'node:child_process';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, findServer, guardBy, libraryEnvironment } from '../servers/debian-server.ts';
import { findHaproxy } from '../servers/haproxy.ts';
import { startMariaDb } from '../servers/mariadb.ts';
import { mysqlPrograms } from '../servers/mysql-programs.ts';
import { findPrometheus } from '../servers/promtool.ts';
import { startRedis } from '../servers/redis.ts';
import { makeStandIns } from './stand-ins.ts';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** A home folder with the package in two versions, servers of its own, and what else a person has after `apt-get`. */
export interface EmptyMachine {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Ports that the guide names, and those of this run. */
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

/** Ends what a failed run has left, also when this process is killed, and removes the folder. */
const endAll = `while read -r _; do :; done
for file in "$1"/home/fleet/run/*; do kill -9 "$(cat "$file")"; done 2>/dev/null
sleep 0.2; rm -rf "$1"`;

/** The release of this checkout, and one that differs in its version. */
const packBoth = async (home: string, next: string): Promise<void> => {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', home], {
    cwd: root,
  });
  const changed = `set -eu; tar --extract --file "$1"
sed --in-place 's/"version": "[^"]*"/"version": "${next}"/' package/package.json
tar --create --gzip --file animal-store-${next}.tgz package
rm -r package`;
  await run('sh', ['-c', changed, 'sh', stdout.trim()], { cwd: home });
};

/** Where the unpacked programs and their libraries are. */
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

import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { copyFile, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, basename } from 'node:path';
import { promisify } from 'node:util';
import { unpack, findServer, libraryEnvironment } from '../servers/debian-server.ts';
import type { Podman } from './podman.ts';
import { mysqlClients } from '../servers/mysql-programs.ts';
import { mariaDbPackages } from '../servers/mariadb.ts';
import { redisLibraries } from '../servers/redis.ts';

const print = async (command: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, args)).stdout.trim();

const packages = [
  ...['coreutils', 'dash', 'libc6', 'libgcc-s1', 'libstdc++6', 'libselinux1', 'libpcre2-8-0'],
  ...['libacl1', 'libattr1', 'libgmp10'],
];

export const baseImages = { NODE_IMAGE: 'localhost/node', BASE_IMAGE: 'localhost/debian' } as const;

const debianRoot = (): Promise<string> => unpack('env', packages);

/** Makes both images from Debian's packages, and from the running Node and npm. */
export const makeBaseImages = async (podman: Podman): Promise<void> => {
  const content = `--directory ${await debianRoot()} .`;
  const base = join(podman.folder, 'base');
  await fillWithMysqlClients(join(base, 'usr/local'));
  const withClients = `${content} --directory ${base} ./usr/local`;
  await importImage(podman, baseImages.BASE_IMAGE, { content: withClients });
  await rm(base, { recursive: true });
  const node = join(podman.folder, 'node');
  await fillWithNode(join(node, 'usr/local'));
  await importImage(podman, baseImages.NODE_IMAGE, {
    content: `${content} --directory ${node} ./usr/local`,
    changes: (await npmSettings()).map((one) => `ENV=${one}`),
  });
  await rm(node, { recursive: true });
};

/** @param from tar arguments that name the content, and Containerfile instructions */
export const importImage = async (
  { shell }: Podman,
  name: string,
  from: { readonly content: string; readonly changes?: readonly string[] },
): Promise<void> => {
  const changes = (from.changes ?? []).map((one) => `--change '${one}'`).join(' ');
  const script = `tar --create ${from.content} | podman import ${changes} - ${name}`;
  const { code, stderr } = await shell(script, '/');
  if (code !== 0) throw new Error(stderr);
};

export const fillWithNode = async (folder: string): Promise<void> => {
  const modules = join(folder, 'lib/node_modules');
  await mkdir(modules, { recursive: true });
  await mkdir(join(folder, 'bin'));
  await copyFile(realpathSync(process.execPath), join(folder, 'bin/node'));
  const npm = realpathSync(await print('sh', '-c', 'command -v npm'));
  await cp(dirname(dirname(npm)), join(modules, 'npm'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'bin/npm'));
  if (authorities) await copyFile(authorities, join(folder, 'authorities.crt'));
};

const authorities = process.env['NODE_EXTRA_CA_CERTS'];

export const npmSettings = async (): Promise<readonly string[]> => [
  `npm_config_registry=${await print('npm', 'config', 'get', 'registry')}`,
  ...(authorities ? ['NODE_EXTRA_CA_CERTS=/usr/local/authorities.crt'] : []),
];

const librariesOf = async (root: string, program: string): Promise<readonly string[]> => {
  const env = { ...process.env, ...libraryEnvironment(root) };
  const { stdout } = await promisify(execFile)('ldd', [program], { env });
  return [...stdout.matchAll(/=> (\/\S+)/g)].map(([, path = '']) => path);
};

/**
 * Adds programs that back up and restore MySQL, the same as ops/Containerfile installs with apt.
 * @param folder becomes /usr/local
 */
export const fillWithMysqlClients = async (folder: string): Promise<void> => {
  const place = join(folder, 'mysql');
  await mkdir(place, { recursive: true });
  await mkdir(join(folder, 'bin'), { recursive: true });
  const { executable: dump, root } = await findServer('mariadb-dump', mysqlClients);
  for (const name of ['mariadb', 'mariadb-dump']) {
    const executable = join(dirname(dump), name);
    await copyFile(executable, join(place, name));
    for (const library of await librariesOf(root, executable)) {
      await copyFile(library, join(place, basename(library)));
    }
    const start = `#!/bin/sh\nLD_LIBRARY_PATH=/usr/local/mysql exec /usr/local/mysql/${name} "$@"\n`;
    await writeFile(join(folder, 'bin', name), start, { mode: 0o755 });
  }
};

export const storeImages = {
  MARIADB_IMAGE: 'localhost/mariadb',
  REDIS_IMAGE: 'localhost/redis',
} as const;

/**
 * Does what the MariaDB image does, as far as ops/compose.yaml uses it: creates a database and its user at the first
 * start.
 */
const startMariaDb = `#!/bin/sh
set -eu
share=/store/usr/share/mysql
places="--no-defaults --user=root --datadir=/var/lib/mysql --tmpdir=/var/lib/mysql --socket=/var/lib/mysql/socket --lc-messages-dir=$share"
if [ ! -d /var/lib/mysql/mysql ]; then
  mkdir -p /var/lib/mysql
  {
    echo 'create database mysql;'
    echo 'use mysql;'
    cat $share/mysql_system_tables.sql $share/mysql_system_tables_data.sql
    echo 'flush privileges;'
    echo "create database $MARIADB_DATABASE character set utf8mb4 collate utf8mb4_bin;"
    echo "create user $MARIADB_USER identified by '$MARIADB_PASSWORD';"
    echo "grant all on \\\`$MARIADB_DATABASE%\\\`.* to $MARIADB_USER;"
  } | mariadbd $places --bootstrap
fi
exec mariadbd $places --skip-name-resolve --innodb-buffer-pool-size=64M "$@"
`;

/** Accepts everyone who reaches the port, like the Redis image. */
const startRedis = `#!/bin/sh
exec "$@" --protected-mode no
`;

export const makeStoreImages = async (podman: Podman): Promise<void> => {
  const mariaDb = await unpack('mariadbd', mariaDbPackages.split(' '));
  const redis = await unpack('redis-server', ['redis-server', ...redisLibraries.split(' ')]);
  await importStore(podman, storeImages.REDIS_IMAGE, {
    root: redis,
    server: 'usr/bin/redis-server',
    start: startRedis,
  });
  await importStore(podman, storeImages.MARIADB_IMAGE, {
    root: mariaDb,
    server: 'usr/sbin/mariadbd',
    start: startMariaDb,
  });
};

const environment = [
  'ENV=PATH=/store/usr/sbin:/store/usr/bin:/usr/bin:/bin',
  'ENV=LD_LIBRARY_PATH=/store/libraries',
];

interface Store {
  readonly root: string;
  readonly server: string;
  readonly start: string;
}

const importStore = async (podman: Podman, name: string, store: Store): Promise<void> => {
  const folder = join(podman.folder, basename(store.server));
  const inside = join(folder, 'store');
  await mkdir(folder);
  await cp(store.root, inside, { recursive: true, verbatimSymlinks: true });
  await mkdir(join(inside, 'libraries'));
  for (const library of await librariesOf(store.root, join(store.root, store.server))) {
    await copyFile(library, join(inside, 'libraries', basename(library)));
  }
  await writeFile(join(inside, 'start'), store.start, { mode: 0o755 });
  const content = `--directory ${await debianRoot()} . --directory ${folder} ./store`;
  const changes = ['ENTRYPOINT=["/store/start"]', ...environment];
  await importImage(podman, name, { content, changes });
  await rm(folder, { recursive: true });
};

import { copyFile, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { unpack } from '../servers/debian-server.ts';
import { mariaDbPackages } from '../servers/mariadb.ts';
import { redisLibraries } from '../servers/redis.ts';
import { debianRoot, importImage } from './base-images.ts';
import { librariesOf } from './mysql-clients.ts';
import type { Podman } from './podman.ts';

/** Both by the names that ops/compose.yaml has for them. */
export const storeImages = {
  MARIADB_IMAGE: 'localhost/mariadb',
  REDIS_IMAGE: 'localhost/redis',
} as const;

/** As far as ops/compose.yaml uses it, what the image of MariaDB does: a database and its user at the first start. */
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

/** As its image does: whoever reaches the port may connect. */
const startRedis = `#!/bin/sh
exec "$@" --protected-mode no
`;

/** Makes stand-ins for the images of both from Debian's packages. */
export const makeStoreImages = async (podman: Podman): Promise<void> => {
  const mariaDb = await unpack('mariadbd', mariaDbPackages.split(' '));
  const redis = await unpack('redis-server', ['redis-server', ...redisLibraries.split(' ')]);
  await importStore(podman, storeImages.REDIS_IMAGE, {
    ...{ root: redis, server: 'usr/bin/redis-server', start: startRedis },
  });
  await importStore(podman, storeImages.MARIADB_IMAGE, {
    ...{ root: mariaDb, server: 'usr/sbin/mariadbd', start: startMariaDb },
  });
};

const environment = [
  'ENV=PATH=/store/usr/sbin:/store/usr/bin:/usr/bin:/bin',
  'ENV=LD_LIBRARY_PATH=/store/libraries',
];

interface Store {
  readonly root: string;
  readonly server: string;
  /** A script that gets the command as its arguments. */
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

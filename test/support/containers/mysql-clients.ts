import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findServer, libraryEnvironment } from '../servers/debian-server.ts';
import { mysqlClients } from '../servers/mysql-programs.ts';

/** Of a program of unpacked packages: those of its packages and those of this machine. */
export const librariesOf = async (root: string, program: string): Promise<readonly string[]> => {
  const env = { ...process.env, ...libraryEnvironment(root) };
  const { stdout } = await promisify(execFile)('ldd', [program], { env });
  return [...stdout.matchAll(/=> (\/\S+)/g)].map(([, path = '']) => path);
};

/** Programs that back up and restore MySQL: what ops/Containerfile installs where there is apt. @param folder becomes /usr/local */
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

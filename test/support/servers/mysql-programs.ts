import { delimiter, dirname } from 'node:path';
import { findServer, libraryEnvironment } from './debian-server.ts';
import { mariaDbPackages } from './mariadb.ts';

export const mysqlClients = [
  ...['mariadb-client', 'mariadb-client-core', 'libmariadb3', 'libedit2', 'libbsd0', 'libmd0'],
  ...['libncurses6', 'libtinfo6'],
];

/** What finds the client programs of MariaDB, and its server where one was unpacked. */
export const mysqlPrograms = async (
  server?: 'with a server',
): Promise<Readonly<Record<string, string>>> => {
  const dump = await findServer('mariadb-dump', mysqlClients);
  const found = server ? [dump, await findServer('mariadbd', mariaDbPackages.split(' '))] : [dump];
  const libraries = found.map(({ root }) => libraryEnvironment(root)['LD_LIBRARY_PATH'] ?? '');
  return {
    PATH: [...found.map(({ executable }) => dirname(executable)), process.env['PATH']].join(
      delimiter,
    ),
    LD_LIBRARY_PATH: libraries.join(delimiter),
  };
};

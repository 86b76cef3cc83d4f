import { delimiter, dirname } from 'node:path';
import { findServer, libraryEnvironment } from './debian-server.ts';

export const mysqlClients = [
  ...['mariadb-client', 'mariadb-client-core', 'libmariadb3', 'libedit2', 'libbsd0', 'libmd0'],
  ...['libncurses6', 'libtinfo6'],
];

/** Environment variables with which MariaDB's client programs are found. */
export const mysqlPrograms = async (): Promise<Readonly<Record<string, string>>> => {
  const { executable, root } = await findServer('mariadb-dump', mysqlClients);
  return {
    PATH: [dirname(executable), process.env['PATH']].join(delimiter),
    LD_LIBRARY_PATH: libraryEnvironment(root)['LD_LIBRARY_PATH'] ?? '',
  };
};

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createDatabase, startMariaDb } from '../test/support/servers/mariadb.ts';
import { loadCore, stopPrograms } from './programs.ts';

/** With the small log of the tests, writes stand still for more than a second while pages are flushed to free it. */
const roomForWrites = ['--innodb-buffer-pool-size=1G', '--innodb-log-file-size=1G'];

/**
 * A private MariaDB on the core of the load, for as long as `work` takes: its processor time is not the service's. It
 * takes no precedence: threads that spin for a lock would keep the one that holds it, or wrk, from running.
 * @param work gets a function that makes an empty database and returns its URL
 */
export const withMariaDb = async <T>(
  work: (newDatabase: () => Promise<string>) => Promise<T>,
): Promise<T> => {
  const server = await startMariaDb({ extraArguments: roomForWrites });
  try {
    const pid = String(server.pid());
    await promisify(execFile)('taskset', ['-a', '-c', '-p', loadCore, pid]);
    return await work(async () => (await createDatabase(server.url)).url);
  } finally {
    // Their connections end first.
    await stopPrograms();
    await server.stop();
  }
};

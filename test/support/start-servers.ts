import { startMariaDb, type MariaDb } from './mariadb.ts';

declare global {
  var mariaDb: MariaDb | undefined;
}

/** One private MySQL-protocol server for the whole run, unless TEST_MYSQL_URL names another. */
export default async function startServers(): Promise<void> {
  if (process.env['TEST_MYSQL_URL']) return;
  globalThis.mariaDb = await startMariaDb();
  process.env['TEST_MYSQL_URL'] = globalThis.mariaDb.url;
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { noDeadline } from '../../../src/kernel/ports.ts';
import { createDatabase } from './mariadb.ts';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export type DatabaseKind = 'sqlite' | 'mysql';
export const databaseKinds: readonly DatabaseKind[] = ['sqlite', 'mysql'];

/** For tests that do not depend on the database. MariaDB is left to `make test-all`. */
export const usualKinds: readonly DatabaseKind[] =
  process.env['TEST_STORES'] === 'all' ? databaseKinds : ['sqlite'];

export const emptyDatabase = (kind: DatabaseKind): Promise<TestDatabase> =>
  kind === 'sqlite' ? sqliteFile() : createDatabase(mysqlServer());

/**
 * Its timeout is long enough for any machine, so that only a real outage counts as one. It does not batch transactions,
 * because its files are in memory.
 */
export const openDatabase = (url: string, deadline = noDeadline): Database =>
  new Database(url, { patient: true, deadline, gatherMs: 0 });

const mysqlServer = (): string => {
  const url = process.env['TEST_MYSQL_URL'];
  if (!url) throw new Error('TEST_MYSQL_URL is not set; run the tests with make test');
  return url;
};

const sqliteFile = async (): Promise<TestDatabase> => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  return {
    url: `sqlite:${join(folder, 'test.db')}`,
    drop: () => rm(folder, { recursive: true, force: true }),
  };
};

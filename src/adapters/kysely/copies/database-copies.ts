import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../database.ts';
import { fileIn, kindOfUrl, type DatabaseKind } from '../engine/database-kind.ts';
import type { CopyFacts, DatabasePlace, InspectedCopy, OnCopied } from './copy-facts.ts';
import { claimMysql, mysqlFacts, mysqlObstacle } from './mysql-claim.ts';
import { dumpMysql, loadMysql, tryDump } from './mysql-copy.ts';
import { copySqlite, inspectSqlite, placeSqlite, sqliteObstacle } from './sqlite-copy.ts';

/**
 * Copies all of it as of one moment, while others write.
 * @param to a file that does not exist
 * @returns undefined when migrations ran meanwhile: the copy may lack tables
 */
export const copyDatabase = (
  place: DatabasePlace,
  to: string,
  onCopied: OnCopied,
): Promise<CopyFacts | undefined> => {
  switch (kindOfUrl(place.databaseUrl)) {
    case 'sqlite':
      return copySqlite(fileIn(place.databaseUrl), to, onCopied);
    case 'mysql':
      return dumpMysql(place, to, onCopied);
  }
};

/** Ids of the succeeded deploys, now. @throws Unavailable */
export const succeededDeploys = async ({ db }: Database): Promise<readonly string[]> => {
  const rows = db.selectFrom('deploys').select('id').where('state', '=', 'succeeded');
  return (await rows.execute()).map(({ id }) => id);
};

/**
 * Looks at what a copy has. One of MySQL is loaded for that.
 * @param into an empty MySQL database, which is empty again afterwards
 * @returns undefined when it needs one
 */
export const inspectCopy = async (
  kind: DatabaseKind,
  copy: string,
  into: DatabasePlace | undefined,
): Promise<InspectedCopy | undefined> => {
  switch (kind) {
    case 'sqlite':
      return inspectSqlite(copy);
    case 'mysql':
      return into && tryDump(copy, into);
  }
};

/** @returns what keeps a copy from being restored there: it is in use or not empty @throws Unavailable */
export const restoreObstacle = ({ databaseUrl }: DatabasePlace): Promise<string | undefined> => {
  switch (kindOfUrl(databaseUrl)) {
    case 'sqlite':
      return sqliteObstacle(fileIn(databaseUrl));
    case 'mysql':
      return mysqlObstacle(databaseUrl);
  }
};

/**
 * Where there is no obstacle; can be repeated after a failure.
 * @param first puts in place what belongs to the database; meanwhile nobody else gets it, where others can be kept out
 * @throws Error when it came into use all the same; nothing of it is changed then
 */
export const restoreDatabase = async <T>(
  copy: string,
  place: DatabasePlace,
  first: () => Promise<T>,
): Promise<T> => {
  const { databaseUrl } = place;
  switch (kindOfUrl(databaseUrl)) {
    case 'sqlite': {
      const result = await first();
      await placeSqlite(copy, fileIn(databaseUrl));
      return result;
    }
    case 'mysql':
      return claimMysql(databaseUrl, 'restore', async ({ empty }) => {
        const result = await first();
        await empty();
        await loadMysql(copy, place);
        return result;
      });
  }
};

/** Whether the database there has exactly the tables, rows and migrations of a copy. */
export const holdsCopy = async (
  { databaseUrl }: DatabasePlace,
  { rows, migrations }: Pick<CopyFacts, 'rows' | 'migrations'>,
): Promise<boolean> => {
  try {
    const found = await factsOf(databaseUrl);
    return isDeepStrictEqual([found?.rows, found?.migrations], [{ ...rows }, migrations]);
  } catch {
    return false;
  }
};

const factsOf = async (url: string): Promise<CopyFacts | undefined> => {
  switch (kindOfUrl(url)) {
    case 'sqlite':
      return (await inspectSqlite(fileIn(url))).facts;
    case 'mysql':
      return mysqlFacts(url);
  }
};

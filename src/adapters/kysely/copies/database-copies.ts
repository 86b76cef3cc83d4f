import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { Database } from '../database.ts';
import { fileIn, kindOfUrl, type DatabaseKind } from '../engine/database-kind.ts';
import { readFacts, type CopyFacts, type OnCopied } from './copy-facts.ts';
import { claimMysql, mysqlObstacle } from './mysql-claim.ts';
import { dumpMysql, loadMysql, type MysqlPlace } from './mysql-copy.ts';
import { startPrivateServer } from './private-server.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { copySqlite, placeSqlite, sqliteDamage, sqliteObstacle } from './sqlite-copy.ts';

/** A database, and what its server's own programs need. */
export type DatabasePlace = MysqlPlace;

/** Copies all of it as of one moment, while others write. @param to a file that does not exist */
export const copyDatabase = (
  place: DatabasePlace,
  to: string,
  onCopied: OnCopied,
): Promise<CopyFacts> => {
  switch (kindOfUrl(place.url)) {
    case 'sqlite':
      return copySqlite(fileIn(place.url), to, onCopied);
    case 'mysql':
      return dumpMysql(place, to, onCopied);
  }
};

/** @returns what keeps a copy from being restored there: it is in use or not empty @throws Unavailable */
export const restoreObstacle = ({ url }: DatabasePlace): Promise<string | undefined> => {
  switch (kindOfUrl(url)) {
    case 'sqlite':
      return sqliteObstacle(fileIn(url));
    case 'mysql':
      return mysqlObstacle(url);
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
  switch (kindOfUrl(place.url)) {
    case 'sqlite': {
      const result = await first();
      await placeSqlite(copy, fileIn(place.url));
      return result;
    }
    case 'mysql':
      return claimMysql(place.url, {
        as: 'restore',
        first,
        load: () => loadMysql(copy, place),
      });
  }
};

/** Whether the database there has exactly the tables, rows and migrations of a copy. */
export const holdsCopy = async (
  { url }: DatabasePlace,
  { rows, migrations }: Pick<CopyFacts, 'rows' | 'migrations'>,
): Promise<boolean> => {
  const database = new Database(url, { patient: true });
  try {
    const found = await factsOf(database);
    const isSame = isDeepStrictEqual(found.migrations.toSorted(), migrations.toSorted());
    return isSame && isDeepStrictEqual(found.rows, { ...rows });
  } catch {
    return false;
  } finally {
    await database.close();
  }
};

/** Ids of the succeeded deploys, now. @throws Unavailable */
export const succeededDeploys = async (database: Database): Promise<readonly string[]> => {
  const rows = database.db.selectFrom('deploys').select('id').where('state', '=', 'succeeded');
  return (await rows.execute()).map(({ id }) => id);
};

/** A copy, restored into a temporary place. */
export interface Trial {
  readonly database: Database;
  readonly facts: CopyFacts;
  /** What the database itself finds wrong. */
  readonly damage: readonly string[];
  end(): Promise<void>;
}

/** @returns why it cannot be tried here, if that is not the copy's fault @throws Error when it cannot be restored */
export const tryCopy = async (
  kind: DatabaseKind,
  copy: string,
  toolsDir: string | undefined,
): Promise<Trial | { readonly untried: string }> => {
  const { path: folder, remove } = await temporaryFolder();
  try {
    const server = await placeFor(kind, folder, toolsDir);
    if ('untried' in server) {
      await remove();
      return server;
    }
    return await opened(copy, server, remove);
  } catch (error) {
    await remove();
    throw error;
  }
};

const placeFor = async (
  kind: DatabaseKind,
  folder: string,
  toolsDir: string | undefined,
): Promise<TrialPlace | { readonly untried: string }> => {
  switch (kind) {
    case 'sqlite': {
      const path = join(folder, 'restored.db');
      const damage = () => sqliteDamage(path);
      return { url: `sqlite:${path}`, toolsDir, damage, stop: () => Promise.resolve() };
    }
    case 'mysql': {
      const server = await startPrivateServer(folder, toolsDir);
      return 'untried' in server ? server : { ...server, toolsDir, damage: () => [] };
    }
  }
};

interface TrialPlace extends DatabasePlace {
  readonly damage: () => readonly string[];
  stop(): Promise<void>;
}

const opened = async (
  copy: string,
  place: TrialPlace,
  remove: () => Promise<void>,
): Promise<Trial> => {
  let database: Database | undefined;
  const end = async () => {
    await database?.close();
    await place.stop();
    await remove();
  };
  try {
    await restoreDatabase(copy, place, () => Promise.resolve());
    const damage = place.damage();
    database = new Database(place.url, { patient: true });
    return { database, facts: await factsOf(database), damage, end };
  } catch (error) {
    await end();
    throw error;
  }
};

const factsOf = async (database: Database): Promise<CopyFacts> => {
  const tables = await database.run((db) =>
    db.introspection.getTables({ withInternalKyselyTables: true }),
  );
  const ask = async (query: string) =>
    (await database.run((db) => sql.raw<Record<string, unknown>>(query).execute(db))).rows;
  return readFacts(
    ask,
    tables.map(({ name }) => name),
  );
};

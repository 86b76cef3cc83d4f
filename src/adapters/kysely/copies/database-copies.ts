import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { fileIn, kindOfUrl, type DatabaseKind } from '../engine/database-kind.ts';
import { backupTimes as backupTimesTable } from '../tables.ts';
import { migrationTable, type CopyFacts, type InspectedCopy, type OnCopied } from './copy-facts.ts';
import { claimMysql, mysqlFacts, mysqlObstacle } from './mysql-claim.ts';
import { dumpMysql, loadMysql, tryDump } from './mysql-copy.ts';
import { copySqlite, inspectSqlite, placeSqlite, sqliteObstacle } from './sqlite-copy.ts';

interface Copies {
  /**
   * @param to path of a file that does not exist
   * @returns undefined if migrations ran meanwhile, because the copy may lack tables
   */
  copy(url: string, to: string, onCopied: OnCopied): Promise<CopyFacts | undefined>;
  /**
   * @param into an empty MySQL database, which loads the copy and is emptied again
   * @returns undefined if `into` is needed but missing
   */
  inspect(copy: string, into: string | undefined): Promise<InspectedCopy | undefined>;
  /** @returns why no copy can be restored there; undefined if one can @throws Unavailable */
  obstacle(url: string): Promise<string | undefined>;
  /**
   * Restores a copy. It may be repeated after a failure.
   * @param first runs while nobody else can use the database
   * @throws Error if the database is in use by then; nothing is changed in that case
   */
  restore<T>(copy: string, url: string, first: () => Promise<T>): Promise<T>;
  facts(url: string): Promise<CopyFacts | undefined>;
}

const copiesOf: Readonly<Record<DatabaseKind, Copies>> = {
  sqlite: {
    copy: (url, to, onCopied) => copySqlite(fileIn(url), to, onCopied),
    inspect: inspectSqlite,
    obstacle: (url) => sqliteObstacle(fileIn(url)),
    restore: async (copy, url, first) => {
      const result = await first();
      await placeSqlite(copy, fileIn(url));
      return result;
    },
    facts: async (url) => (await inspectSqlite(fileIn(url))).facts,
  },
  mysql: {
    copy: dumpMysql,
    inspect: async (copy, into) => (into === undefined ? undefined : tryDump(copy, into)),
    obstacle: mysqlObstacle,
    restore: (copy, url, first) =>
      claimMysql(url, 'restore', async ({ empty }) => {
        const result = await first();
        await empty();
        await loadMysql(copy, url);
        return result;
      }),
    facts: mysqlFacts,
  },
};

export const copiesIn = (url: string): Copies => copiesOf[kindOfUrl(url)];

/** @throws Error if `into` cannot be used */
export const inspectCopy = (kind: DatabaseKind, copy: string, into: string | undefined) =>
  copiesOf[kind].inspect(copy, into);

export const holdsCopy = async (
  url: string,
  { rows, migrations }: Pick<CopyFacts, 'rows' | 'migrations'>,
): Promise<boolean> => {
  try {
    const found = await copiesIn(url).facts(url);
    return isDeepStrictEqual([found?.rows, found?.migrations], [{ ...rows }, migrations]);
  } catch {
    return false;
  }
};

export const succeededDeploys = async ({ db }: Database): Promise<readonly string[]> => {
  const rows = db.selectFrom('deploys').select('id').where('state', '=', 'succeeded');
  return (await rows.execute()).map(({ id }) => id);
};

/** `made`: a backup is complete. `checked`: it was restored as a test. */
export type BackupStep = 'made' | 'checked';

export interface BackupTimes {
  /** When the service was installed. */
  readonly since: Date;
  readonly made: Date | undefined;
  readonly checked: Date | undefined;
}

/** @throws Unavailable */
export const backupTimes = async (database: Database): Promise<BackupTimes> => {
  const { rows } = await database.run((db) =>
    sql<{ timestamp: string }>`
      select min(timestamp) as timestamp from ${sql.table(migrationTable)}`.execute(db),
  );
  const [installed] = rows;
  const found = await database.db.selectFrom('backup_times').selectAll().execute();
  const times = found.map(backupTimesTable.read);
  const momentOf = (step: BackupStep) => times.find((one) => one.step === step)?.moment;
  const since = new Date(installed?.timestamp ?? '');
  return { since, made: momentOf('made'), checked: momentOf('checked') };
};

/** Records a backup. An earlier time changes nothing unless the recorded one lies in the future. @throws Unavailable */
export const rememberBackup = async (
  database: Database,
  step: BackupStep,
  moment: Date,
): Promise<void> => {
  const values = backupTimesTable.write({ step, moment });
  const known = sql.ref<bigint>('moment');
  const newest = sql<bigint>`
    case when ${known} between ${values.moment} and ${BigInt(Date.now())} then ${known} else ${values.moment} end`;
  const insert = database.db.insertInto('backup_times').values(values);
  await database.engine.upsert({ insert, key: ['step'], change: { moment: newest } }).execute();
};

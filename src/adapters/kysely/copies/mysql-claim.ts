import { sql, type Kysely } from 'kysely';
import { Database, type Schema } from '../database.ts';
import { unfinishedIn, unfinishedMark, type Filling } from '../migrations.ts';
import { migrationTable, readFacts, type CopyFacts } from './copy-facts.ts';

/** The longest timeout that all servers accept, because the session with the lock is silent for hours. */
const silentSeconds = 2_147_483;

const lockName = `concat('restore ', left(sha2(database(), 256), 32))`;

type Session = Kysely<Schema>;

/** @returns why no copy can be restored there; undefined if one can @throws Unavailable */
export const mysqlObstacle = (url: string): Promise<string | undefined> =>
  inSession(url, async (session) => {
    const [others = ''] = await ask(
      session,
      'select count(*) from information_schema.processlist where db = database() and id <> connection_id()',
    );
    return others === '0' ? tablesOfOthers(session) : `${others} other connections use it`;
  });

export interface ClaimedMysql {
  readonly session: Session;
  /** Drops what an unfinished restore or move has left. @throws Error if the database is in use by then */
  empty(): Promise<void>;
}

/**
 * Excludes services, restores and moves while `fill` runs. The last step of `fill` replaces the mark.
 * @throws Error when the database is in use
 * @throws Unavailable
 */
export const claimMysql = <T>(
  url: string,
  as: Filling,
  fill: (claimed: ClaimedMysql) => Promise<T>,
): Promise<T> =>
  inSession(url, async (session) => {
    await tell(session, `set wait_timeout = ${String(silentSeconds)}`);
    const [locked] = await ask(session, `select get_lock(${lockName}, 0)`);
    if (locked !== '1') throw new Error('Another restore or move into this database is running.');
    try {
      await refuseOthers(session);
      if ((await tablesIn(session)).length === 0) await mark(session, as);
      return await fill({ session, empty: () => dropAllButMark(session) });
    } finally {
      // Released explicitly, because the server ends the session's lock only some time after the session.
      await ask(session, `select release_lock(${lockName})`).catch(() => undefined);
    }
  });

const mark = async (session: Session, as: Filling): Promise<void> => {
  await tell(
    session,
    `create table ${migrationTable} (name varchar(255) primary key, timestamp varchar(255) not null)`,
  );
  await tell(session, `insert into ${migrationTable} values ('${unfinishedMark(as)}', '')`);
};

const dropAllButMark = async (session: Session): Promise<void> => {
  await refuseOthers(session);
  await dropTables(
    session,
    (await tablesIn(session)).filter((one) => one !== migrationTable),
  );
};

export const dropTables = async (session: Session, tables: readonly string[]): Promise<void> => {
  if (tables.length === 0) return;
  await tell(session, 'set foreign_key_checks = 0');
  await sql`drop table ${sql.join(tables.map((one) => sql.table(one)))}`.execute(session);
};

const refuseOthers = async (session: Session): Promise<void> => {
  const found = await tablesOfOthers(session);
  if (found === undefined) return;
  throw new Error(
    `Something started to use the database: ${found}. Stop it, or name an empty database.`,
  );
};

const tablesOfOthers = async (session: Session): Promise<string | undefined> => {
  const tables = await tablesIn(session);
  const isEmpty = tables.length === 0;
  if (isEmpty || (await isUnfinished(session, tables))) return undefined;
  return `it has ${String(tables.length)} tables`;
};

const isUnfinished = async (session: Session, tables: readonly string[]): Promise<boolean> =>
  unfinishedIn(await migrationsIn(session, tables)) !== undefined;

const migrationsIn = async (
  session: Session,
  tables: readonly string[],
): Promise<readonly string[]> =>
  tables.includes(migrationTable)
    ? ask(session, `select name from ${migrationTable} order by name`)
    : [];

export const schemaOf = (url: string) =>
  inSession(url, async (session) => {
    const tables = await tablesIn(session);
    return { tables, migrations: await migrationsIn(session, tables) };
  });

export const mysqlFacts = (url: string): Promise<CopyFacts> => inSession(url, factsIn);

export const factsIn = async (session: Session): Promise<CopyFacts> =>
  readFacts(
    async (query) => (await sql.raw<Record<string, unknown>>(query).execute(session)).rows,
    await tablesIn(session),
  );

export const tablesIn = (session: Session): Promise<readonly string[]> =>
  ask(
    session,
    `select table_name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE' order by table_name`,
  );

const ask = async (session: Session, query: string): Promise<readonly string[]> => {
  const { rows } = await sql.raw<object>(query).execute(session);
  return rows.map((row) => String(Object.values(row)[0]));
};

const tell = async (session: Session, statement: string): Promise<void> => {
  await sql.raw(statement).execute(session);
};

const inSession = async <T>(url: string, work: (session: Session) => Promise<T>): Promise<T> => {
  const database = new Database(url, { patient: true });
  try {
    await database.ping();
    // Not guarded, because `work` may throw errors that are not about the database.
    return await database.root.connection().execute(work);
  } finally {
    await database.close();
  }
};

import SqliteDatabase from 'better-sqlite3';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { DatabaseKind, TestDatabase } from './databases.ts';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { RecordingTracer } from '../recording-tracer.ts';
import { migratedDatabase } from './migrated-database.ts';

type Cell = string | number | null;

export interface ManyRows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Stores rows and explains statements, one line per step. */
const openDirectly = (kind: DatabaseKind, url: string) =>
  kind === 'sqlite' ? sqlite(url.replace('sqlite:', '')) : mysql(url);

const sqlite = (file: string) => {
  const db = new SqliteDatabase(file);
  db.pragma('foreign_keys = off');
  return Promise.resolve({
    store: ({ table, columns, rows }: ManyRows) => {
      const places = columns.map(() => '?').join();
      const insert = db.prepare(`insert into ${table} (${columns.join()}) values (${places})`);
      db.transaction(() => {
        for (const row of rows) insert.run(row);
      })();
      return Promise.resolve();
    },
    explain: (text: string, value: ValueOf = due) => {
      const steps = db.prepare(`explain query plan ${text}`).all(valuesFor(text, value));
      return Promise.resolve(steps.map((step) => (step as { detail: string }).detail));
    },
    close: () => Promise.resolve(void db.close()),
  });
};

const mysql = async (url: string) => {
  const db = await createConnection(url);
  return {
    store: async ({ table, columns, rows }: ManyRows) => {
      await db.query('set foreign_key_checks = 0');
      await db.query(`insert into ${table} (${columns.join()}) values ?`, [rows]);
      await db.query(`analyze table ${table}`);
    },
    explain: async (text: string, value: ValueOf = due) => {
      const [rows] = await db.query<RowDataPacket[]>(`explain ${text}`, valuesFor(text, value));
      return rows.map((row) => `${String(row['table'])} by ${String(row['key'])}`);
    },
    close: () => db.end(),
  };
};

/**
 * The value of a parameter, by the statement's text before it. The default 500 serves as a time before which nothing is
 * due, and as a limit.
 */
type ValueOf = (before: string) => Cell;
const due: ValueOf = () => 500;

const valuesFor = (text: string, valueOf: ValueOf) =>
  [...text.matchAll(/\?/g)].map(({ index }) => valueOf(text.slice(0, index)));

/** A database with these rows for one suite, and the query plans of each test's statements. */
export const explainedDatabase = (kind: DatabaseKind, tables: readonly ManyRows[]) => {
  let home: TestDatabase;
  let database: Database;
  let direct: Awaited<ReturnType<typeof openDirectly>>;
  const tracer = new RecordingTracer();
  beforeAll(async () => {
    home = await migratedDatabase(kind);
    database = new Database(home.url, { patient: true, tracer });
    direct = await openDirectly(kind, home.url);
    for (const rows of tables) await direct.store(rows);
  });
  afterAll(async () => {
    await direct.close();
    await database.close();
    await home.drop();
  });
  beforeEach(() => {
    tracer.steps.length = 0;
  });
  return {
    get database() {
      return database;
    },
    /** The steps of the plans of all statements since the test began. @param value of all their parameters */
    steps: async (value?: string | ValueOf): Promise<readonly string[]> => {
      const valueOf = typeof value === 'string' ? () => value : value;
      const texts = tracer.steps.flatMap(({ facts }) => String(facts['db.query.text'] ?? []));
      return (await Promise.all(texts.map((text) => direct.explain(text, valueOf)))).flat();
    },
  };
};

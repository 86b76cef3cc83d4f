import SqliteDatabase from 'better-sqlite3';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { DatabaseKind } from './databases.ts';

type Cell = string | number | null;

/** Many rows of a table, put there without the adapters. */
export interface ManyRows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Stores rows, and explains statements: one line for each step. Nothing is due by 500, and that is a limit as well. */
export const openDirectly = (kind: DatabaseKind, url: string) =>
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
    explain: (text: string, value: Cell = 500) => {
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
    explain: async (text: string, value: Cell = 500) => {
      const [rows] = await db.query<RowDataPacket[]>(`explain ${text}`, valuesFor(text, value));
      return rows.map((row) => `${String(row['table'])} by ${String(row['key'])}`);
    },
    close: () => db.end(),
  };
};

const valuesFor = (text: string, value: Cell) => [...text.matchAll(/\?/g)].map(() => value);

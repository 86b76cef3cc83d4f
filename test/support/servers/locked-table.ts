import { createConnection, type RowDataPacket } from 'mysql2/promise';

export interface LockedTable {
  /** How many connections to the same database wait for it. */
  waiting(): Promise<number>;
  unlock(): Promise<void>;
  /** Unlocks as well. */
  close(): Promise<void>;
}

/** Locks a table for all other connections, like a manual repair. */
export const lockTable = async (url: string, table: string): Promise<LockedTable> => {
  const connection = await createConnection(url);
  await connection.query(`lock tables ${table} write`);
  const database = new URL(url).pathname.slice(1);
  return {
    waiting: async () => {
      const [all] = await connection.query<RowDataPacket[]>('show processlist');
      return all.filter(
        ({ db, State: state }) => db === database && String(state).startsWith('Waiting for table'),
      ).length;
    },
    unlock: async () => {
      await connection.query('unlock tables');
    },
    close: () => connection.end(),
  };
};

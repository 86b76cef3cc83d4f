import type { CompiledQuery, Dialect } from 'kysely';

/** Connections of this process: how many there may be, how many are in use, and how many callers wait for one. */
export interface PoolLoad {
  readonly all: number;
  readonly busy: number;
  readonly waiting: number;
}

/** The connections to one database. */
export interface Connections {
  readonly dialect: Dialect;
  /**
   * Runs a query that is compiled once, outside any transaction, on what is committed. SQLite answers in the same turn,
   * without waiting for a transaction that is open on the other connection; MySQL prepares it.
   */
  readonly readCommitted: (query: CompiledQuery) => Promise<unknown[]>;
  /** Of SQLite's, only the one that writes: reads wait for nothing. */
  readonly load: () => PoolLoad;
  /** After the dialect's driver was destroyed, which does nothing if it was never used. */
  readonly close: () => Promise<void>;
}

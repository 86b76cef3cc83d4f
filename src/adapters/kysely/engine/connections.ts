import type { Dialect } from 'kysely';

/** The connections to one database. */
export interface Connections {
  readonly dialect: Dialect;
  /**
   * Runs a compiled query outside any transaction at once, on what is committed. SQLite only: it answers in
   * the same turn, without waiting for a transaction that is open on the other connection.
   */
  readonly readCommitted?: (text: string, parameters: readonly unknown[]) => Promise<unknown[]>;
}

import type { Dialect } from 'kysely';

/** One of the two databases. Their differences at run time are in the two engines and in `failure.ts`. */
export interface Engine {
  readonly kind: 'sqlite' | 'mysql';
  readonly dialect: Dialect;
  /**
   * Runs a compiled query outside any transaction at once, on what is committed. SQLite only: it answers in
   * the same turn, without waiting for a transaction that is open on the other connection.
   */
  readonly readCommitted?: (text: string, parameters: readonly unknown[]) => Promise<unknown[]>;
}

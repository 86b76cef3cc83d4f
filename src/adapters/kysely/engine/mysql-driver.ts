import type { Driver } from 'kysely';
import { LateConnection } from './late-connection.ts';
import type { MysqlPool } from './mysql-pool.ts';

/** BEGIN and statements whose answer is not needed share a round trip with the next statement. */
export class MysqlDriver implements Driver {
  readonly #open: () => Promise<MysqlPool>;
  #pool: MysqlPool | undefined;

  constructor(open: () => Promise<MysqlPool>) {
    this.#open = open;
  }

  /** Before the first query. The pool opens connections when they are needed. */
  async init(): Promise<void> {
    this.#pool = await this.#open();
  }

  acquireConnection(): Promise<LateConnection> {
    if (!this.#pool) throw new Error('init comes first');
    return Promise.resolve(new LateConnection(this.#pool));
  }

  beginTransaction(connection: LateConnection): Promise<void> {
    connection.begin();
    return Promise.resolve();
  }

  commitTransaction(connection: LateConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: LateConnection): Promise<void> {
    return connection.rollback();
  }

  releaseConnection(connection: LateConnection): Promise<void> {
    connection.release();
    return Promise.resolve();
  }

  /** Whoever opened the pool closes it. */
  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

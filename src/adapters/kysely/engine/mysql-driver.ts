import type { Driver } from 'kysely';
import { LateConnection } from './late-connection.ts';
import type { MysqlPool } from './mysql-pool.ts';

/** BEGIN and statements whose answer is not needed share a round trip with the next statement. */
export class MysqlDriver implements Driver {
  readonly #pool: MysqlPool;

  constructor(pool: MysqlPool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {
    // The pool opens connections when they are needed.
  }

  acquireConnection(): Promise<LateConnection> {
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

  destroy(): Promise<void> {
    return this.#pool.close();
  }
}

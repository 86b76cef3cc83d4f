import type { Sealer } from '../../kernel/sealer.ts';
import type { Database, Queries } from './database.ts';

/** What every adapter of this folder has. */
export abstract class Store {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  /** Queries that run in the current transaction, or by themselves. @throws Unavailable */
  protected get db(): Queries {
    return this.database.db;
  }
}

/** Stores private keys, which it seals. */
export abstract class SealingStore extends Store {
  protected readonly sealer: Sealer;

  constructor(database: Database, sealer: Sealer) {
    super(database);
    this.sealer = sealer;
  }
}

import type { Sealer } from '../../kernel/sealer.ts';
import type { Database, Queries } from './database.ts';
import type { KyselyOutbox } from './kysely-outbox.ts';

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

/** Stores events together with what they tell of. */
export abstract class TellingStore extends Store {
  protected readonly outbox: KyselyOutbox;

  constructor(database: Database, outbox: KyselyOutbox) {
    super(database);
    this.outbox = outbox;
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

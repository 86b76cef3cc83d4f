import type { Database } from './database.ts';
import type { KyselyOutbox } from './kysely-outbox.ts';
import { Store } from './store.ts';

/** Stores events together with what they tell of. */
export abstract class TellingStore extends Store {
  protected readonly outbox: KyselyOutbox;

  constructor(database: Database, outbox: KyselyOutbox) {
    super(database);
    this.outbox = outbox;
  }
}

import type { Kysely } from 'kysely';
import { accountDeleted, accountNotFound } from '../../access/domain/access-error.ts';
import type { Sealer } from '../../kernel/ports.ts';
import type { DomainEvent } from '../../kernel/decision.ts';
import type { Database, Queries } from './database.ts';
import type { Schema } from './schema.ts';

export abstract class Store {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  protected get db(): Queries {
    return this.database.db;
  }
}

export abstract class SealingStore extends Store {
  protected readonly sealer: Sealer;

  constructor(database: Database, sealer: Sealer) {
    super(database);
    this.sealer = sealer;
  }
}

/** SQLite takes 32 766 parameters in one statement. */
const rowsAtOnce = 250;

export const insertMany = async <Row>(
  rows: readonly Row[],
  insert: (some: readonly Row[]) => Promise<unknown>,
): Promise<void> => {
  for (let first = 0; first < rows.length; first += rowsAtOnce)
    await insert(rows.slice(first, first + rowsAtOnce));
};

type Work<Result> = (db: Kysely<Schema>) => Promise<Result>;
interface Decided {
  readonly events: readonly DomainEvent[];
}

export interface EventLog {
  append(events: readonly DomainEvent[]): Promise<void>;
}

export abstract class AggregateStore extends Store {
  protected readonly outbox: EventLog;

  constructor(database: Database, outbox: EventLog) {
    super(database);
    this.outbox = outbox;
  }

  /** Stores what `work` does together with its events. @throws Unavailable */
  protected store<Decision extends Decided>(work: Work<Decision>): Promise<Decision> {
    return this.database.transaction(async (db) => {
      const decision = await work(db);
      await this.outbox.append(decision.events);
      return decision;
    });
  }

  /** Serialises what adds to one account. @throws DomainError `account_not_found`, `account_deleted` */
  protected async lockAccount(id: string): Promise<void> {
    const account = await this.database.lock('accounts', id);
    if (!account) throw accountNotFound(id);
    if (account.deleted_at !== null) throw accountDeleted(id);
  }

  /** How an aggregate changes: lock, decide, write, store the events; all or nothing. @throws Unavailable */
  protected changing<State, Decision extends Decided>(
    lock: Work<State>,
    decide: (state: State) => Decision,
    write: (decision: Decision, db: Kysely<Schema>, before: State) => Promise<unknown>,
  ): Promise<Decision> {
    return this.store(async (db) => {
      const before = await lock(db);
      const decision = decide(before);
      await write(decision, db, before);
      return decision;
    });
  }
}

import type { Kysely } from 'kysely';
import { accountDeleted, accountNotFound } from '../../access/domain/access-error.ts';
import type { Sealer } from '../../kernel/ports.ts';
import type { DomainEvent } from '../../kernel/decision.ts';
import { endsAt } from '../../kernel/deletion.ts';
import { type Database, type Queries, fromMillisOrNull, type Schema } from './database.ts';
import { failureOf } from './engine/failure.ts';

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

type Steps<State, Decision> = readonly [
  lock: Work<State>,
  decide: (state: State) => Decision,
  write: (decision: NonNullable<Decision>, db: Kysely<Schema>, before: State) => Promise<unknown>,
];

/** Locks, decides and writes within a transaction. A decision may be to change nothing. */
export const changed = async <State, Decision>(
  db: Kysely<Schema>,
  ...[lock, decide, write]: Steps<State, Decision>
): Promise<Decision> => {
  const before = await lock(db);
  const decision = decide(before);
  if (decision !== undefined && decision !== null) await write(decision, db, before);
  return decision;
};

/** When the first of the deleted rows expires. */
export const firstEndOf = async (
  db: Queries,
  table: 'accounts' | 'projects',
): Promise<Date | undefined> => {
  const row = await db
    .selectFrom<'accounts' | 'projects'>(table)
    .select('deleted_at')
    .where('deleted_at', '>', 0n)
    .orderBy('deleted_at')
    .limit(1)
    .executeTakeFirst();
  const deletedAt = fromMillisOrNull(row?.deleted_at ?? null);
  return deletedAt && endsAt(deletedAt);
};

/** For inserts that may be repeated. @returns false if the row is stored already */
export const unlessStored = async (insert: Promise<unknown>): Promise<boolean> => {
  try {
    await insert;
    return true;
  } catch (error) {
    if (failureOf(error) !== 'duplicate') throw error;
    return false;
  }
};

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
  protected store<Decision extends Decided | undefined>(work: Work<Decision>): Promise<Decision> {
    return this.database.transaction(async (db) => {
      const decision = await work(db);
      if (decision) await this.outbox.append(decision.events);
      return decision;
    });
  }

  /** Serialises changes that add to one account. @throws DomainError `account_not_found`, `account_deleted` */
  protected async lockAccount(id: string): Promise<void> {
    const account = await this.database.lock('accounts', id);
    if (!account) throw accountNotFound(id);
    if (account.deleted_at !== null) throw accountDeleted(id);
  }

  /** Does the same as `changed` and stores the decision's events. @throws Unavailable */
  protected changing<State, Decision extends Decided | undefined>(
    ...steps: Steps<State, Decision>
  ): Promise<Decision> {
    return this.store((db) => changed(db, ...steps));
  }
}

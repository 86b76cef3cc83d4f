import { sql, type ExpressionBuilder, type QueryCreator } from 'kysely';
import type { Ids } from '../../kernel/ports.ts';
import { mostCounted, type Claimed } from '../../kernel/queue.ts';
import { type Database, type Queries, toMillis } from './database.ts';
import { Store } from './store.ts';

const longestProblem = 2000;

export interface QueueTable {
  readonly table: 'deliveries' | 'domains' | 'mails' | 'webhook_deliveries';
  readonly key: 'id' | 'message';
  readonly isNumbered?: true;
  /** A row without a value is never due. */
  readonly due: 'due_at' | 'next_at';
  /** Column with the lease's end. Without it, `due` of a claimed row is when its lease ends. */
  readonly leaseEnd?: 'claimed_until';
  /** Only rows with these values wait. Each value is a range of an index. */
  readonly only?: { readonly column: 'is_slow' | 'parked'; readonly values: readonly bigint[] };
  readonly order: readonly string[];
}

type Cell = string | bigint | null;
type Key = string | bigint;
type Row = Record<string, Cell>;
type Rows = Record<string, Row>;

/** Accepts any column name, because columns with the same role have different names in the tables. */
const rowsOf = (db: Queries) => db as unknown as QueryCreator<Rows>;

interface Waiting extends Pick<QueueTable, 'table' | 'due'> {
  readonly only?: readonly [column: string, operator: '=' | '<=', value: bigint];
  readonly least: string;
}

/** Counts rows that wait, up to `mostCounted` in the order of `due`, and finds the least value of a column in them. */
export const countWaiting = async (
  db: Queries,
  { table, due, only, least }: Waiting,
): Promise<{ readonly count: number; readonly least: bigint | null }> => {
  const found = await rowsOf(db)
    .selectFrom((inner) =>
      inner
        .selectFrom(table)
        .select(least)
        .where(due, 'is not', null)
        .$if(only !== undefined, (some) => (only ? some.where(...only) : some))
        .orderBy(due)
        .limit(mostCounted)
        .as('counted'),
    )
    .select(({ fn }) => [
      fn.countAll<bigint>().as('count'),
      fn.min<bigint | null>(`counted.${least}`).as('least'),
    ])
    .executeTakeFirstOrThrow();
  return { count: Number(found.count), least: found.least };
};

/** Records which process works on which row; see `Queue`. */
export class QueueRows extends Store {
  readonly #ids: Ids;
  readonly #the: QueueTable;

  readonly #firstDue = this.database.prepare<{ now: bigint; limit: number }, Row>((db, the) => {
    const { table, key, order } = this.#the;
    const due = rowsOf(db)
      .selectFrom(table)
      .select(key)
      .where(this.#isDue(the('now')));
    return order.reduce((rows, column) => rows.orderBy(column), due).limit(the('limit'));
  });

  readonly #firstTime = this.database.prepare<{ value: bigint; limit: number }, Row>((db, the) => {
    const { table, key, due, only } = this.#the;
    return rowsOf(db)
      .selectFrom(table)
      .select([key, due])
      .$if(only !== undefined, (some) => some.where(only?.column ?? key, '=', the('value')))
      .where(due, '>=', 0n)
      .orderBy(due)
      .limit(the('limit'));
  });

  readonly #leased = this.database.prepare<Record<string, never>, Row>((db) => {
    const { table, key, due, leaseEnd = due } = this.#the;
    return rowsOf(db)
      .selectFrom(table)
      .select([key, due, leaseEnd])
      .where('claim', '>', sql.lit(''));
  });

  constructor(database: Database, ids: Ids, the: QueueTable) {
    super(database);
    this.#ids = ids;
    this.#the = the;
  }

  /** @returns the claim; undefined if nothing is due */
  async take(now: Date, leaseUntil: Date, limit: number): Promise<string | undefined> {
    const { key } = this.#the;
    const due = await this.#firstDue({ now: toMillis(now), limit });
    const keys = due.flatMap((row) => row[key] ?? []);
    return keys.length === 0 ? undefined : this.lease(keys, now, leaseUntil);
  }

  /** Claims the rows. If two processes race for a row, the loser changes nothing. @returns the claim */
  async lease(keys: readonly Key[], now: Date, leaseUntil: Date): Promise<string> {
    const claim = this.#ids.next('claim');
    const { table, key, due, leaseEnd = due } = this.#the;
    await this.database.transaction((db) =>
      rowsOf(db)
        .updateTable(table)
        .set({ claim, [leaseEnd]: toMillis(leaseUntil) })
        .where(key, 'in', keys)
        .where(this.#isDue(toMillis(now)))
        .execute(),
    );
    return claim;
  }

  /** The earliest due time, in the past if a row is due. A leased row is due when its lease ends, or later. */
  async nextDueAt(): Promise<Date | undefined> {
    const { key, due, leaseEnd, only } = this.#the;
    const leased = leaseEnd ? await this.#leased({}) : [];
    const times = leased.flatMap((row) =>
      row[due] === null ? [] : [Math.max(Number(row[due]), Number(row[leaseEnd ?? due]))],
    );
    for (const value of only?.values ?? [0n]) {
      const first = await this.#firstTime({ value, limit: leased.length + 1 });
      const free = first.find((row) => !leased.some((one) => one[key] === row[key]));
      if (free) times.push(Number(free[due]));
    }
    return times.length === 0 ? undefined : new Date(Math.min(...times));
  }

  async prolong(items: readonly Claimed[], leaseUntil: Date): Promise<void> {
    if (items.length === 0) return;
    const { due, leaseEnd = due } = this.#the;
    await this.#update(this.db, items, { [leaseEnd]: toMillis(leaseUntil) });
  }

  async release(items: readonly Claimed[]): Promise<void> {
    if (items.length === 0) return;
    await this.database.batched((db) =>
      this.#update(db, items, { claim: null, ...(this.#the.leaseEnd && { claimed_until: null }) }),
    );
  }

  /** Removes the rows, no matter who has claimed them. */
  async remove(items: readonly Pick<Claimed, 'id'>[]): Promise<void> {
    if (items.length === 0) return;
    const { table, key } = this.#the;
    const keys = items.map(({ id }) => this.#keyOf(id));
    await this.database.batched((db) =>
      rowsOf(db).deleteFrom(table).where(key, 'in', keys).execute(),
    );
  }

  /** @param change contains the next due time, if there is one */
  async giveBack({ id, claim }: Claimed, change: Row, problem: string): Promise<void> {
    const { table, key } = this.#the;
    await rowsOf(this.db)
      .updateTable(table)
      .set((eb) => ({
        ...change,
        claim: null,
        problem: problem.slice(0, longestProblem),
        attempts: eb('attempts', '+', 1n),
      }))
      .where(key, '=', this.#keyOf(id))
      .where('claim', '=', claim)
      .execute();
  }

  #update(db: Queries, items: readonly Claimed[], change: Row) {
    const { table, key } = this.#the;
    const [keys, claims] = [
      items.map(({ id }) => this.#keyOf(id)),
      items.map(({ claim }) => claim),
    ];
    return rowsOf(db)
      .updateTable(table)
      .set(change)
      .where(key, 'in', keys)
      .where('claim', 'in', [...new Set(claims)])
      .execute();
  }

  #keyOf(id: string): Key {
    return this.#the.isNumbered ? BigInt(id) : id;
  }

  #isDue(now: bigint) {
    const { due, leaseEnd, only } = this.#the;
    const [value, ...others] = only?.values ?? [];
    return (row: ExpressionBuilder<Rows, string>) =>
      row.and([
        row(due, '<=', now),
        ...(only && value !== undefined && others.length === 0
          ? [row(only.column, '=', value)]
          : []),
        ...(leaseEnd ? [row.or([row(leaseEnd, 'is', null), row(leaseEnd, '<=', now)])] : []),
      ]);
  }
}

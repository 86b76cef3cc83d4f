import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Retention, RetentionRule } from '../../kernel/ports.ts';
import { type Database, fromMillis, toMillis, type Schema } from './database.ts';
import { Store, unlessStored } from './store.ts';
import { jobLeases } from './tables.ts';
import type { JobLeases } from '../../kernel/queue.ts';

type Column<Table extends keyof Schema> = keyof Schema[Table] & string;
type TimeColumn<Table extends keyof Schema> = {
  [Name in Column<Table>]: Schema[Table][Name] extends bigint | null ? Name : never;
}[Column<Table>];

type RetentionRules = {
  readonly [Table in keyof Schema]: RetentionRule<Column<Table>, TimeColumn<Table>> | 'kept';
};

type Condition = RawBuilder<boolean>;
interface Old {
  readonly table: keyof Schema;
  readonly age: RawBuilder<bigint>;
  readonly also: readonly Condition[];
}

const usualSlice = 500;
const goOn = () => false;

export class KyselyRetention extends Store implements Retention {
  readonly #rules: RetentionRules;
  readonly #slice: number;

  /** @param slice maximum rows per statement, except when more rows have the same time */
  constructor(database: Database, rules: RetentionRules, slice = usualSlice) {
    super(database);
    this.#rules = rules;
    this.#slice = slice;
  }

  async sweep(table: keyof Schema, before: Date, isStopping = goOn): Promise<number> {
    const rule: RetentionRule | 'kept' = this.#rules[table];
    if (rule === 'kept') throw new Error(`rows of ${table} are kept`);
    let swept = 0;
    for (const old of oldIn(table, rule)) {
      swept += await this.#sweep(old, toMillis(before), isStopping);
    }
    return swept;
  }

  async oldest(table: keyof Schema): Promise<Date | undefined> {
    const rule: RetentionRule | 'kept' = this.#rules[table];
    if (rule === 'kept') return undefined;
    let oldest: bigint | undefined;
    for (const { age, also } of oldIn(table, { ...rule, unlessIn: undefined })) {
      const row = await this.db
        .selectFrom(table)
        .select(age.as('age'))
        .where(sql.join<boolean>([sql`${age} >= 0`, ...also], sql` and `))
        .orderBy(age)
        .limit(1)
        .executeTakeFirst();
      if (row && (oldest === undefined || row.age < oldest)) oldest = row.age;
    }
    return oldest === undefined ? undefined : fromMillis(oldest);
  }

  async #sweep(old: Old, before: bigint, isStopping: () => boolean): Promise<number> {
    let swept = 0;
    while (!isStopping()) {
      const sliceEnd = await this.#endOfSlice(old, before);
      swept += await this.#delete(old, sliceEnd ?? before - 1n);
      if (sliceEnd === undefined) break;
    }
    return swept;
  }

  /** Finds the time at which the first slice ends. @returns undefined if one slice is enough */
  async #endOfSlice({ table, age, also }: Old, before: bigint): Promise<bigint | undefined> {
    const row = await this.db
      .selectFrom(table)
      .select(age.as('age'))
      .where(sql.join<boolean>([sql`${age} < ${before}`, ...also], sql` and `))
      .orderBy(age)
      .offset(this.#slice)
      .limit(1)
      .executeTakeFirst();
    return row?.age;
  }

  async #delete({ table, age, also }: Old, last: bigint): Promise<number> {
    const { numDeletedRows } = await this.db
      .deleteFrom(table)
      .where(sql.join<boolean>([sql`${age} <= ${last}`, ...also], sql` and `))
      .executeTakeFirst();
    return Number(numDeletedRows);
  }
}

const oldIn = (
  table: keyof Schema,
  {
    since,
    only,
    unlessIn,
  }: Pick<RetentionRule, 'since' | 'only'> & {
    readonly unlessIn?: RetentionRule['unlessIn'] | undefined;
  },
): readonly Old[] => {
  const age = sql<bigint>`${sql.ref(`${table}.${since}`)}`;
  const unless = unlessIn ? [isNotIn(table, unlessIn)] : [];
  if (!only) return [{ table, age, also: unless }];
  const column = sql.ref(`${table}.${only.column}`);
  return only.words.map((word) => ({ table, age, also: [sql`${column} = ${word}`, ...unless] }));
};

const isNotIn = (
  table: keyof Schema,
  { table: other, column }: NonNullable<RetentionRule['unlessIn']>,
): Condition =>
  sql`not exists (select 1 from ${sql.table(other)} where ${sql.ref(`${other}.${column}`)} = ${sql.ref(`${table}.id`)})`;

type Lease = Selectable<Schema['job_leases']>;

export class KyselyJobLeases extends Store implements JobLeases {
  readonly #take = this.database.prepareWrite<Lease & { now: bigint }>((db, the) =>
    db
      .updateTable('job_leases')
      .set({ holder: the('holder'), lease_until: the('lease_until') })
      .where('job', '=', the('job'))
      .where(({ eb, or }) =>
        or([eb('holder', '=', the('holder')), eb('lease_until', '<=', the('now'))]),
      ),
  );

  readonly #release = this.database.prepareWrite<Pick<Lease, 'job' | 'holder'>>((db, the) =>
    db
      .updateTable('job_leases')
      .set({ lease_until: 0n })
      .where('job', '=', the('job'))
      .where('holder', '=', the('holder')),
  );

  async hold(job: string, holder: string, now: Date, leaseUntil: Date): Promise<boolean> {
    const lease = jobLeases.write({ job, holder, leaseUntil });
    const { numAffectedRows = 0n } = await this.#take({ ...lease, now: toMillis(now) });
    if (numAffectedRows > 0n) return true;
    return unlessStored(this.db.insertInto('job_leases').values(lease).execute());
  }

  async release(job: string, holder: string): Promise<void> {
    await this.#release({ job, holder });
  }
}

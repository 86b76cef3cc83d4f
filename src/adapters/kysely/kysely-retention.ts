import { sql, type RawBuilder } from 'kysely';
import type { OwnerRule, Retention, RetentionRule } from '../../kernel/retention.ts';
import type { Database } from './database.ts';
import { Store } from './store.ts';
import { fromMillis, toMillis, type Schema } from './schema.ts';

type Column<Table extends keyof Schema> = keyof Schema[Table] & string;
type TimeColumn<Table extends keyof Schema> = {
  [Name in Column<Table>]: Schema[Table][Name] extends bigint | null ? Name : never;
}[Column<Table>];

/** Every table has a rule, or keeps its rows until something deletes them. */
export type RetentionRules = {
  readonly [Table in keyof Schema]: RetentionRule<Column<Table>, TimeColumn<Table>> | 'kept';
};

type AgeRule = Exclude<RetentionRule, OwnerRule>;
type Condition = RawBuilder<boolean>;
/** `age` is a column of the table. */
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

  /** @param slice most rows that one statement deletes, unless more are of the same time */
  constructor(database: Database, rules: RetentionRules, slice = usualSlice) {
    super(database);
    this.#rules = rules;
    this.#slice = slice;
  }

  async sweep(table: keyof Schema, before: Date, isStopping = goOn): Promise<number> {
    const rule: RetentionRule | 'kept' = this.#rules[table];
    if (rule === 'kept') throw new Error(`rows of ${table} are kept`);
    if (rule.since === undefined) return this.#sweepOwnerless(table, rule.unlessIn, isStopping);
    let swept = 0;
    for (const old of oldIn(table, rule)) {
      swept += await this.#sweep(old, toMillis(before), isStopping);
    }
    return swept;
  }

  async oldest(table: keyof Schema): Promise<Date | undefined> {
    const rule: RetentionRule | 'kept' = this.#rules[table];
    if (rule === 'kept' || rule.since === undefined) return undefined;
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

  /** Looks for them first: a deletion that looks at all rows would lock them. */
  async #sweepOwnerless(
    table: keyof Schema,
    unlessIn: OwnerRule['unlessIn'],
    isStopping: () => boolean,
  ): Promise<number> {
    const owner = sql<string>`${sql.ref(`${table}.${unlessIn.of}`)}`;
    let swept = 0;
    while (!isStopping()) {
      const gone = await this.db
        .selectFrom(table)
        .select(owner.as('owner'))
        .distinct()
        .where(isNotIn(table, unlessIn))
        .limit(this.#slice)
        .execute();
      if (gone.length === 0) break;
      const { numDeletedRows } = await this.db
        .deleteFrom(table)
        .where(
          owner,
          'in',
          gone.map((row) => row.owner),
        )
        .executeTakeFirst();
      swept += Number(numDeletedRows);
    }
    return swept;
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

  /** @returns undefined if all that is left fits into one slice */
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

/** A range of an index for each word. */
const oldIn = (
  table: keyof Schema,
  {
    since,
    only,
    unlessIn,
  }: Pick<AgeRule, 'since' | 'only'> & { readonly unlessIn?: AgeRule['unlessIn'] | undefined },
): readonly Old[] => {
  const age = sql<bigint>`${sql.ref(`${table}.${since}`)}`;
  const unless = unlessIn ? [isNotIn(table, unlessIn)] : [];
  if (!only) return [{ table, age, also: unless }];
  const column = sql.ref(`${table}.${only.column}`);
  return only.words.map((word) => ({ table, age, also: [sql`${column} = ${word}`, ...unless] }));
};

const isNotIn = (
  table: keyof Schema,
  { table: other, column, of = 'id' }: NonNullable<AgeRule['unlessIn']>,
): Condition =>
  sql`not exists (select 1 from ${sql.table(other)} where ${sql.ref(`${other}.${column}`)} = ${sql.ref(`${table}.${of}`)})`;

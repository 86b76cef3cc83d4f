import { maybe, time } from './column.ts';
import type { SnakeCase, StoredTables } from './table.ts';
import type * as tables from './tables.ts';

/** The tables as the database has them. */
export type Schema = StoredTables<typeof tables>;

export const toMillis = time.write;
export const fromMillis = time.read;
export const toMillisOrNull = maybe(time).write;
export const fromMillisOrNull = maybe(time).read;

/** For rows that are still written by hand: `RowOf<Pet>` has `category_id: bigint`, and lacks no field. */
export type RowOf<Fields> = {
  readonly [Name in keyof Fields as SnakeCase<Name>]-?: StoredAs<Fields[Name]>;
};

type StoredAs<Value> = Value extends undefined
  ? null
  : Value extends number | bigint | boolean | Date
    ? bigint
    : string;

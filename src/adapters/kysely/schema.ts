import { maybe, time } from './column.ts';
import type { StoredTables } from './table.ts';
import type * as tables from './tables.ts';

/** The tables as the database has them. */
export type Schema = StoredTables<typeof tables>;

export const toMillis = time.write;
export const fromMillis = time.read;
export const fromMillisOrNull = maybe(time).read;

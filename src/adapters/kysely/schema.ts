import { maybe, time, type StoredTables } from './table.ts';
import type * as access from './access/tables.ts';
import type * as notifications from './notifications/tables.ts';
import type * as sites from './sites/tables.ts';
import type * as others from './tables.ts';

export type Schema = StoredTables<
  typeof access & typeof notifications & typeof sites & typeof others
>;

export const toMillis = time.write;
export const fromMillis = time.read;
export const fromMillisOrNull = maybe(time).read;

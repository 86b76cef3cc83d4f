import { describe, test as testOnBoth } from '@jest/globals';
import { databaseKinds, usualKinds, type DatabaseKind } from './servers/databases.ts';
import { openStores, type StoreOptions, type Stores } from './stores.ts';

let kind: DatabaseKind = 'sqlite';

/** Runs a contract on SQLite; on MariaDB only its tests `testOnBoth`, or all of them with `make test-all`. */
export const describeStores = (
  title: string,
  contract: (open: (options?: StoreOptions) => Promise<Stores>, kind: DatabaseKind) => void,
): void => {
  describe.each(databaseKinds)(`${title} in %s`, (current) => {
    kind = current;
    contract((options) => openStores(current, options), current);
    kind = 'sqlite';
  });
};

const isUsual = (): boolean => usualKinds.includes(kind);

/** For contracts of stores: a test that need not run on MariaDB each time. */
export const test = Object.assign(
  (...call: Parameters<typeof testOnBoth>): void => {
    if (isUsual()) testOnBoth(...call);
  },
  {
    each: ((...table: Parameters<typeof testOnBoth.each>) =>
      isUsual() ? testOnBoth.each(...table) : () => undefined) as typeof testOnBoth.each,
  },
);

/**
 * What depends on the database: locks, races, upserts, sums, large integers, time, order, case, and one round trip. Each
 * contract has at least one.
 */
export { testOnBoth };

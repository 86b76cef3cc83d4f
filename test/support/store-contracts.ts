import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  test as testOnBoth,
} from '@jest/globals';
import type { Database } from '../../src/adapters/kysely/database.ts';
import {
  databaseKinds,
  openDatabase,
  usualKinds,
  type DatabaseKind,
  type TestDatabase,
} from './servers/databases.ts';
import { migratedDatabase } from './servers/migrated-database.ts';
import { openStores, type StoreOptions, type Stores } from './stores.ts';

let kind: DatabaseKind = 'sqlite';

/**
 * Runs a contract on SQLite. On MariaDB it runs only the `testOnBoth` tests, or all of them with `make test-all`. The
 * stores are empty, and open while the tests run.
 */
export const describeStores = (
  title: string,
  contract: (stores: Stores, kind: DatabaseKind) => void,
  options?: StoreOptions,
): void => {
  describe.each(databaseKinds)(`${title} in %s`, (current) => {
    kind = current;
    let stores: Stores | undefined;
    beforeAll(async () => {
      stores = await openStores(current, options);
    });
    afterAll(() => stores?.close());
    contract(
      lazily(() => stores),
      current,
    );
    kind = 'sqlite';
  });
};

/** Gives each test an empty database of its own. */
export const describeDatabases = (
  title: string,
  kinds: readonly DatabaseKind[],
  contract: (database: Database) => void,
): void => {
  describe.each(kinds)(`${title} in %s`, (current) => {
    let home: TestDatabase;
    let database: Database | undefined;
    beforeEach(async () => {
      home = await migratedDatabase(current);
      database = openDatabase(home.url);
    });
    afterEach(async () => {
      await database?.close();
      await home.drop();
    });
    contract(lazily(() => database));
  });
};

/** A proxy for an object that exists only while tests run, so that tests can refer to its parts earlier. */
const lazily = <Whole extends object>(whole: () => Whole | undefined): Whole => {
  const part = (name: string | symbol): unknown => {
    const its = whole();
    if (!its) return lazily(() => part(name) as object | undefined);
    const found: unknown = Reflect.get(its, name, its);
    return typeof found === 'function' ? (found.bind(its) as unknown) : found;
  };
  return new Proxy({} as Whole, {
    get: (_, name) => part(name),
    has: (_, name) => Reflect.has(whole() ?? {}, name),
    ownKeys: () => Reflect.ownKeys(whole() ?? {}),
    getOwnPropertyDescriptor: (_, name) => {
      return { value: part(name), enumerable: true, configurable: true };
    },
  });
};

const isUsual = (): boolean => usualKinds.includes(kind);

/** A contract test that need not run on MariaDB each time. */
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
 * Marks tests that depend on the database: locks, races, upserts, sums, large integers, time, order, case, and one
 * round trip. Each contract has at least one.
 */
export { testOnBoth };

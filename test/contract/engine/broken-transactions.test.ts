import { afterAll, afterEach, beforeAll, expect, test, describe } from '@jest/globals';
import { openDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';
import {
  startMysqlProxy,
  type MysqlProxy,
  type Refusal,
} from '../../support/servers/mysql-proxy.ts';
import { until } from '../../support/until.ts';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { OutOfTime, Unavailable } from '../../../src/kernel/ports.ts';
import { failureCodes, failureOf, Outage } from '../../../src/adapters/kysely/engine/failure.ts';

let home: TestDatabase;
let proxy: MysqlProxy;
let observer: Database;
let database: Database;
beforeAll(async () => {
  home = await migratedDatabase('mysql');
  proxy = await startMysqlProxy(home.url);
  observer = openDatabase(home.url);
  database = openDatabase(proxy.url);
});
afterAll(async () => {
  await database.close();
  await observer.close();
  await proxy.stop();
  await home.drop();
});
afterEach(() => {
  proxy.refuse([]);
});

/** Stores two rows of any table, whose names distinguish the two writes. */
const store = (name: string): Promise<unknown> =>
  database.transaction(async (db) => {
    for (const half of ['first half', 'second half']) {
      const row = { job: `${name}, ${half}`, holder: 'test', lease_until: 0n };
      await db.insertInto('job_leases').values(row).execute();
    }
  });

const halvesOf = async (name: string): Promise<number> => {
  const rows = observer.root.selectFrom('job_leases').select('job');
  return (await rows.where('job', 'like', `${name}, %`).execute()).length;
};

/** Includes error numbers that our tables do not list. */
const errnos = { 'a limit of the user': 1226, 'no quorum': 1047, 'nothing known': 1525 };

const moments: Readonly<Record<string, (errno: number) => readonly Refusal[]>> = {
  BEGIN: (errno) => [{ statement: /^begin$/, errno }],
  COMMIT: (errno) => [{ statement: /^commit$/, errno }],
  'COMMIT and ROLLBACK': (errno) => [{ statement: /^(commit|rollback)$/, errno }],
  'the second write and ROLLBACK': (errno) => [{ statement: /second half|^rollback$/, errno }],
};

const cases = Object.entries(errnos).flatMap(([why, errno]) =>
  Object.keys(moments).map((moment) => [moment, why, errno] as const),
);

test.each(cases)(
  'after %s was refused (%s, %i), later statements of that transaction store nothing',
  async (moment, _why, errno) => {
    const name = `${moment} ${errno}`;
    proxy.refuse(moments[moment]!(errno));
    await expect(store(name)).rejects.toThrow();
    proxy.refuse([]);
    for (const next of ['a', 'b', 'c']) await store(`${name} ${next}`);
    expect(await halvesOf(name)).toBe(0);
    for (const next of ['a', 'b', 'c']) expect(await halvesOf(`${name} ${next}`)).toBe(2);
  },
);

test("when one of a transaction's parallel statements fails, the later ones store nothing", async () => {
  const row = (half: string) => ({ job: `beside, ${half}`, holder: 'test', lease_until: 0n });
  const halves = ['first half', 'first half', 'second half', 'third half'];
  const stored = database.transaction((db) =>
    Promise.all(halves.map((half) => db.insertInto('job_leases').values(row(half)).execute())),
  );
  await expect(stored).rejects.toMatchObject({ code: 'ER_DUP_ENTRY' });
  await store('after it');
  expect(await halvesOf('beside')).toBe(0);
});

test.each(['and continues', 'and ends'])(
  'a transaction that the server rolled back unnoticed, %s, does not count as stored',
  async (what) => {
    proxy.refuse([{ statement: /overlooked, second half/, errno: 1205 }]);
    const insert = (half: string) => {
      const row = { job: `overlooked, ${half}`, holder: 'test', lease_until: 0n };
      return database.run((db) => db.insertInto('job_leases').values(row).execute());
    };
    const stored = database.transaction(async () => {
      await insert('first half');
      await insert('second half').catch(() => undefined);
      if (what === 'and goes on') await insert('third half');
    });
    await expect(stored).rejects.toBeInstanceOf(Unavailable);
    expect(await halvesOf('overlooked')).toBe(0);
  },
);

test('a transaction whose COMMIT another cluster member refused is retried from the start', async () => {
  proxy.refuse([{ statement: /^commit$/, errno: 1213, sqlState: '40001' }]);
  const before = proxy.refused;
  const stored = store('certified');
  await until('it was refused thrice', () => proxy.refused >= before + 3);
  proxy.refuse([]);
  await stored;
  expect(await halvesOf('certified')).toBe(2);
});

test('a transaction that keeps conflicting is given up', async () => {
  proxy.refuse([{ statement: /^commit$/, errno: 1213, sqlState: '40001' }]);
  await expect(store('hopeless')).rejects.toBeInstanceOf(Unavailable);
  expect(await halvesOf('hopeless')).toBe(0);
});

test('a conflicting transaction is not retried once nobody waits for it', async () => {
  proxy.refuse([{ statement: /^commit$/, errno: 1213, sqlState: '40001' }]);
  const before = proxy.refused;
  const deadline = {
    get leftMs() {
      return proxy.refused > before ? 1 : Infinity;
    },
  };
  const hurried = openDatabase(proxy.url, deadline);
  const row = { job: 'late, first half', holder: 'test', lease_until: 0n };
  const stored = hurried.transaction((db) => db.insertInto('job_leases').values(row).execute());
  await expect(stored).rejects.toBeInstanceOf(Unavailable);
  await hurried.close();
  expect(proxy.refused).toBe(before + 1);
  expect(await halvesOf('late')).toBe(0);
});

const connectionOf = (of: Database): Promise<unknown> =>
  of.db.selectNoFrom(({ fn }) => fn('connection_id', []).as('id')).executeTakeFirst();

test("a query that its request's deadline cuts off is not an outage, and its connection is not used again", async () => {
  let leftMs = Infinity;
  const heard: unknown[] = [];
  const hurried = new Database(proxy.url, {
    deadline: {
      get leftMs() {
        return leftMs;
      },
    },
    onOutage: { onAway: (error) => heard.push(error), onBack: () => undefined },
  });
  const first = await connectionOf(hurried);
  expect(await connectionOf(hurried)).toEqual(first);
  leftMs = 50;
  proxy.slowDown(200);
  await expect(hurried.ping()).rejects.toBeInstanceOf(OutOfTime);
  leftMs = Infinity;
  proxy.slowDown(0);
  expect(await connectionOf(hurried)).not.toEqual(first);
  expect(heard).toEqual([]);
  await hurried.close();
});

test('a connection to a server that was unavailable is not used again', async () => {
  const own = openDatabase(proxy.url);
  const first = await connectionOf(own);
  // The server is read-only.
  proxy.refuse([{ statement: /^select 1$/, errno: 1290 }]);
  await expect(own.ping()).rejects.toBeInstanceOf(Unavailable);
  proxy.refuse([]);
  expect(await connectionOf(own)).not.toEqual(first);
  await own.close();
});

test('a single query that cannot reach the database fails as unavailable, and the outage is reported', async () => {
  const away: unknown[] = [];
  const unreachable = new Database('mysql://store:store@127.0.0.1:1/store', {
    onOutage: { onAway: (error) => void away.push(error), onBack: () => undefined },
  });
  const ask = () => unreachable.db.selectFrom('job_leases').selectAll().execute();
  await expect(ask()).rejects.toThrow(Unavailable);
  await expect(ask()).rejects.toThrow(Unavailable);
  expect(away).toHaveLength(1);
  await unreachable.close();
});

test.each(
  [...failureCodes].map(([code, { failure, meaning }]) => [code, failure, meaning] as const),
)('the code %s is %s: %s', (code, failure) => {
  const error = /^\d+$/.test(code) ? { errno: Number(code) } : { code };
  expect(failureOf(error)).toBe(failure);
});

test.each([
  ['an extended code of SQLite', { code: 'SQLITE_IOERR_FSYNC' }, 'unavailable'],
  ['another extended code of SQLite', { code: 'SQLITE_BUSY_SNAPSHOT' }, 'unavailable'],
  ['a check that failed', { code: 'SQLITE_CONSTRAINT_CHECK' }, 'other'],
  ['a mistake in a statement', { code: 'ER_PARSE_ERROR', errno: 1064 }, 'other'],
  ['a mistake in our code', { code: 'ERR_INVALID_ARG_TYPE' }, 'other'],
  ['a closed connection', { fatal: true }, 'unavailable'],
  ['no error', undefined, 'other'],
])('%s is classified as an outage or not', (_what, error, failure) => {
  expect(failureOf(error)).toBe(failure);
});

describe('an outage', () => {
  const heard: string[] = [];
  let now = 0;
  const outage = new Outage(
    { onAway: () => heard.push('away'), onBack: (ms) => heard.push(`back after ${ms}`) },
    () => now,
  );

  test('is reported once, however many requests fail, and ends after 5 seconds without failures', () => {
    outage.succeeded();
    for (now = 0; now < 3000; now += 1000) outage.failed(new Error('away'));
    now = 4000;
    outage.succeeded();
    outage.failed(new Error('still'));
    now = 9000;
    outage.succeeded();
    outage.succeeded();
    expect(heard).toEqual(['away', 'back after 9000']);
  });
});

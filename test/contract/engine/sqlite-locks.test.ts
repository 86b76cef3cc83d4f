import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import SqliteDatabase from 'better-sqlite3';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { EdgePort } from '../../../src/adapters/kysely/sites/project-routes.ts';
import { migrateUp } from '../../../src/adapters/kysely/migrations.ts';
import { SqliteWriters } from '../../../src/adapters/kysely/engine/sqlite-group.ts';
import { OutOfTime, Unavailable } from '../../../src/kernel/ports.ts';
import { emptyDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { holdLock } from '../../support/servers/file-lock.ts';
import { holdStopwatch } from '../../support/held-timeouts.ts';
import { until } from '../../support/until.ts';

let home: TestDatabase;
let database: Database;
beforeAll(async () => {
  home = await emptyDatabase('sqlite');
  database = new Database(home.url);
  await migrateUp(database);
});
afterAll(async () => {
  await database.close();
  await home.drop();
});
beforeEach(async () => {
  await database.run((db) => db.deleteFrom('quota_counters').execute());
});
afterEach(() => {
  jest.useRealTimers();
});

const insert = (subject: string, data = '') =>
  database.run((db) =>
    db.insertInto('quota_counters').values({ subject, data, saved_at: 0n }).execute(),
  );
const stored = async (): Promise<readonly string[]> => {
  const rows = await database.run((db) =>
    db.selectFrom('quota_counters').select('subject').execute(),
  );
  return rows.map(({ subject }) => subject).sort();
};
const setPragma = (text: string) =>
  database.run((db) => {
    const any = db.selectFrom('accounts').select('id').compile();
    return db.executeQuery({ ...any, sql: `pragma ${text}` });
  });

/** Alternates between a transaction and a single statement. */
const write = (name: string, at: number): Promise<unknown> =>
  at % 2 === 0 ? insert(name) : database.transaction(() => insert(name));
const names = (count: number) => Array.from({ length: count }, (_, at) => `writer ${at + 10}`);

test('while another program has the lock, reads do not wait and writes are served in order', async () => {
  const letGo = await holdLock(home.url);
  holdStopwatch();
  const order: string[] = [];
  const writers = names(24);
  const writing = writers.map(async (name, at) => {
    await write(name, at);
    order.push(name);
  });
  // If these had to wait, they would wait forever.
  await database.ping();
  expect(await stored()).toEqual([]);
  expect(order).toEqual([]);
  await letGo();
  await Promise.all(writing);
  expect(order).toEqual(writers);
  expect(await stored()).toEqual(writers);
});

test('an edge that starts at its known port writes nothing and therefore needs no lock', async () => {
  const edgePort = new EdgePort(database);
  await edgePort.remember(8443);
  const letGo = await holdLock(home.url);
  await edgePort.remember(8443);
  await expect(edgePort.find()).resolves.toBe(8443);
  await letGo();
});

test('a write waits two seconds for another program, counted from its own arrival, while reads continue', async () => {
  const letGo = await holdLock(home.url);
  holdStopwatch();

  let ended = 0;
  const writing = [
    ...names(25).map(write),
    // More writes than one batch holds.
    ...names(30).map((name) => database.batched(() => insert(`batched ${name}`))),
  ].map((one) => one.finally(() => (ended += 1)));
  const outcomes = Promise.allSettled(writing);
  const { connections } = database.engine;
  await until('all but the first wait', () => connections.load().waiting === writing.length - 1);
  jest.advanceTimersByTime(1000);
  const late = insert('late');
  jest.advanceTimersByTime(999);
  expect(await stored()).toEqual([]);
  expect(ended).toBe(0);
  jest.advanceTimersByTime(1);
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
    expect(outcome).toHaveProperty('reason.cause.message', expect.stringContaining('within 2 s'));
  }
  await letGo();
  await late;
  expect(await stored()).toEqual(['late']);
});

test('SQLite itself never waits for a lock, because that would block the process', async () => {
  const [reader, writer] = [
    setPragma('busy_timeout'),
    database.transaction(() => setPragma('busy_timeout')),
  ];
  expect([(await reader).rows, (await writer).rows]).toEqual([
    [{ timeout: 0n }],
    [{ timeout: 0n }],
  ]);
});

test('a request waits for another program or another write of its process until its deadline at most', async () => {
  const hurried = new Database(home.url, { deadline: { leftMs: 100 } });
  const write = () => hurried.run((db) => db.deleteFrom('quota_counters').execute());
  const letGo = await holdLock(home.url);
  await expect(write()).rejects.toThrow(Unavailable);
  await letGo();
  const other = Promise.withResolvers<undefined>();
  const writing = hurried.transaction(() => other.promise);
  await expect(write()).rejects.toThrow(OutOfTime);
  other.resolve(undefined);
  await writing;
  await hurried.close();
});

test('the wait of a write does not include earlier locks or writes of its own process', async () => {
  const writers = new SqliteWriters();
  let isLocked = true;
  let refusals = 0;
  const attempt = () => {
    if (!isLocked) return;
    refusals += 1;
    throw Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' });
  };
  const enter = () => writers.enter(attempt, { lockMs: 100, leftMs: Infinity });
  /** Unlocks once the lock has refused an attempt. */
  const openAfterRefusal = async (): Promise<void> => {
    const before = refusals;
    isLocked = true;
    await until('it is refused', () => refusals > before);
    isLocked = false;
  };

  holdStopwatch();
  const tooLate = enter();
  jest.advanceTimersByTime(100);
  await expect(tooLate).rejects.toThrow('within 0.1 s');
  jest.advanceTimersByTime(110);
  const [first, second] = [enter(), enter()];
  await openAfterRefusal();
  await first;
  jest.advanceTimersByTime(110);
  isLocked = true;
  writers.leave();
  await openAfterRefusal();
  await second;
  writers.leave();
});

test('a start waits while another program locks the file, and gives up with a message that says so', async () => {
  const own = await emptyDatabase('sqlite');
  const file = new SqliteDatabase(own.url.slice('sqlite:'.length)).exec('begin exclusive');
  const hurried = new Database(own.url, { deadline: { leftMs: 100 } });
  const refusal = { cause: { message: expect.stringContaining('within 0.1 s') } };
  await expect(migrateUp(hurried)).rejects.toMatchObject(refusal);
  const waiting = new Database(own.url);
  const migrating = migrateUp(waiting);
  file.exec('commit').close();
  expect(await migrating).not.toEqual([]);
  for (const one of [hurried, waiting]) await one.close();
  await own.drop();
});

test('a transaction that SQLite rolls back because the disk is full stores nothing, and neither do its later statements', async () => {
  const [big, tooBig] = ['x'.repeat(10_000), 'x'.repeat(10_000_000)];
  const half = database.transaction(async () => {
    await insert('first', big);
    await setPragma('max_page_count = 1');
    await insert('too big', tooBig).catch(() => undefined);
    await insert('last');
  });
  await expect(half).rejects.toThrow(Unavailable);
  expect(await stored()).toEqual([]);
  await expect(insert('too big', tooBig)).rejects.toThrow(Unavailable);
  await database.transaction(() => setPragma('max_page_count = 1000000'));
  await insert('then');
  expect(await stored()).toEqual(['then']);
});

test('a transaction whose file became read-only stores nothing', async () => {
  const half = database.transaction(async () => {
    await insert('first');
    await setPragma('query_only = 1');
    try {
      await insert('second');
    } finally {
      await setPragma('query_only = 0');
    }
  });
  await expect(half).rejects.toThrow(Unavailable);
  expect(await stored()).toEqual([]);
});

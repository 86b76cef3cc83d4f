import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import { OutOfTime, Unavailable } from '../../../src/kernel/ports.ts';
import { holdStopwatch, holdTimeouts } from '../../support/held-timeouts.ts';
import { openDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';
import { startMysqlProxy, type MysqlProxy } from '../../support/servers/mysql-proxy.ts';
import { until } from '../../support/until.ts';

const int64s = [
  ...[0n, 1n, -1n, 9007199254740991n, 9007199254740992n, 9007199254740993n, -9007199254740993n],
  ...[9223372036854775806n, 9223372036854775807n, -9223372036854775807n, -9223372036854775808n],
];

let home: TestDatabase;
let proxy: MysqlProxy;
let database: Database;
let root: Connection;
beforeAll(async () => {
  home = await migratedDatabase('mysql');
  proxy = await startMysqlProxy(home.url);
  database = openDatabase(proxy.url);
  root = await createConnection(home.url);
  for (const int64 of int64s) {
    const row = { job: `until ${int64}`, holder: 'test', lease_until: int64 };
    await database.db.insertInto('job_leases').values(row).execute();
  }
});
afterAll(async () => {
  await root.end();
  await database.close();
  await proxy.stop();
  await home.drop();
});
afterEach(() => {
  proxy.refuse([]);
  jest.useRealTimers();
});

const leasesOf = (of: Database) =>
  of.prepare<{ until: bigint; limit: number }, { job: string; lease_until: bigint }>((db, the) =>
    db
      .selectFrom('job_leases')
      .select(['job', 'lease_until'])
      .where('lease_until', '>=', the('until'))
      .orderBy('lease_until')
      .limit(the('limit')),
  );

const expectAll = async (find: ReturnType<typeof leasesOf>): Promise<void> => {
  for (const int64 of int64s) {
    const row = { job: `until ${int64}`, lease_until: int64 };
    expect(await find({ until: int64, limit: 1 })).toEqual([row]);
  }
};

/** The commands that a connection receives meanwhile, without the texts of the statements. */
const verbsOf = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  proxy.takeAsked();
  await work();
  return proxy.takeAsked().map((text) => text.split(' ')[0] ?? '');
};

test('every int64 is exact in both directions, as a parameter and in a row', async () => {
  await expectAll(leasesOf(database));
});

test.each([
  ['has no room for prepared statements', /^prepare /, 1461],
  ['has forgotten a prepared statement, as after a failover behind a proxy', /^execute /, 1243],
  ['requires it to be prepared again because a table changed', /^execute /, 1615],
])(
  "a server that %s receives the statement's text, and the caller receives the rows",
  async (_what, statement, errno) => {
    holdStopwatch();
    const own = openDatabase(proxy.url);
    const find = leasesOf(own);
    await own.ping();
    if (errno !== 1461) await expectAll(find);
    proxy.refuse([{ statement, errno }]);
    const before = proxy.refused;
    await expectAll(find);
    expect(proxy.refused).toBeGreaterThan(before);
    proxy.refuse([]);
    expect(await verbsOf(() => find({ until: 0n, limit: 1 }))).toEqual(['prepare', 'execute']);
    expect(await verbsOf(() => find({ until: 0n, limit: 1 }))).toEqual(['execute']);
    await own.close();
  },
);

test('a statement reads the current columns of a table that was altered since it last ran', async () => {
  const find = leasesOf(database);
  await expectAll(find);
  await root.query(
    'alter table job_leases modify lease_until bigint not null after job, modify job varchar(250)',
  );
  await expectAll(find);
  await root.query('alter table job_leases modify job varchar(255) after holder, algorithm=copy');
  await expectAll(find);
});

test('when all connections are killed, at most one query fails', async () => {
  const own = openDatabase(home.url);
  const find = leasesOf(own);
  for (let round = 0; round < 3; round++) {
    await Promise.all(int64s.map((int64) => find({ until: int64, limit: 1 })));
    for (const id of await connections()) await root.query(`kill ${id}`).catch(() => undefined);
    const outcomes = [];
    for (const int64 of int64s) {
      outcomes.push(
        await find({ until: int64, limit: 1 }).then(
          () => 'found',
          (error: unknown) => error,
        ),
      );
    }
    const failures = outcomes.filter((outcome) => outcome !== 'found');
    expect(failures.every((failure) => failure instanceof Unavailable)).toBe(true);
    expect(failures.length).toBeLessThanOrEqual(1);
  }
  await own.close();
});

test('a database that only served reads closes all its connections', async () => {
  const before = await connections();
  const own = openDatabase(home.url);
  const find = leasesOf(own);
  await Promise.all(int64s.map((int64) => find({ until: int64, limit: 1 })));
  expect((await connections()).length).toBeGreaterThan(before.length);
  await own.close();
  await until('they are closed', async () => (await connections()).length <= before.length);
});

/** The numbers of all connections to the database but our own. */
const connections = async (): Promise<readonly string[]> => {
  const name = new URL(home.url).pathname.slice(1);
  const [rows] = await root.query<RowDataPacket[]>(
    'select id from information_schema.processlist where db = ? and id <> connection_id()',
    [name],
  );
  return rows.map(({ id }) => String(id));
};

test('a query is refused at its own deadline, and a query that began later is not', async () => {
  let leftMs = Infinity;
  const hurried = openDatabase(proxy.url, {
    get leftMs() {
      return leftMs;
    },
  });
  const find = leasesOf(hurried);
  await Promise.all(Array.from({ length: 3 }, () => find({ until: 0n, limit: 1 })));
  const findWithin = async (ms: number) => {
    leftMs = ms;
    proxy.takeAsked();
    const found = find({ until: 0n, limit: 1 });
    await until('it is sent', () => proxy.takeAsked().length > 0);
    return { found };
  };
  proxy.slowDown(300);
  const patient = await findWithin(Infinity);
  const hasty = await findWithin(50);
  // The later query fails before the earlier one is answered.
  const refused = expect(Promise.race([hasty.found, patient.found])).rejects.toBeInstanceOf(
    OutOfTime,
  );
  const later = await findWithin(60_000);
  await refused;
  expect(await Promise.all([patient.found, later.found])).toHaveLength(2);
  proxy.slowDown(0);
  await hurried.close();
});

test('a query that was answered in time keeps its connection in use, even after its deadline', async () => {
  let leftMs = Infinity;
  const hurried = openDatabase(proxy.url, {
    get leftMs() {
      return leftMs;
    },
  });
  const find = leasesOf(hurried);
  const findWithin = (ms: number) => {
    leftMs = ms;
    return find({ until: 0n, limit: 1 });
  };
  await findWithin(Infinity);
  holdTimeouts();
  await findWithin(200);
  await jest.advanceTimersByTimeAsync(250);
  leftMs = Infinity;
  expect(await verbsOf(() => find({ until: 0n, limit: 1 }))).toEqual(['execute']);
  await hurried.close();
});

test('connections that open too late for their own queries serve the next ones', async () => {
  let leftMs = 50;
  const hurried = openDatabase(proxy.url, {
    get leftMs() {
      return leftMs;
    },
  });
  const find = leasesOf(hurried);
  proxy.slowDown(100);
  const found = Array.from({ length: 8 }, () => find({ until: 0n, limit: 1 }));
  for (const late of found) await expect(late).rejects.toBeInstanceOf(OutOfTime);
  proxy.slowDown(0);
  leftMs = Infinity;
  expect(await find({ until: 0n, limit: 1 })).toHaveLength(1);
  await hurried.close();
});

test("closing waits for a query no longer than that query's deadline", async () => {
  let leftMs = Infinity;
  const hurried = openDatabase(proxy.url, {
    get leftMs() {
      return leftMs;
    },
  });
  const find = leasesOf(hurried);
  await find({ until: 0n, limit: 1 });
  proxy.slowDown(60_000);
  leftMs = 100;
  proxy.takeAsked();
  const refused = expect(find({ until: 0n, limit: 1 })).rejects.toBeInstanceOf(OutOfTime);
  await until('it is sent', () => proxy.takeAsked().length > 0);
  await hurried.close();
  await refused;
  proxy.slowDown(0);
});

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createConnection, type Connection } from 'mysql2/promise';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { migrateUp } from '../../../src/adapters/kysely/migrations.ts';
import { holdStopwatch } from '../../support/held-timeouts.ts';
import { createDatabase, startMariaDb, type MariaDb } from '../../support/servers/mariadb.ts';
import { startMysqlProxy, type MysqlProxy } from '../../support/servers/mysql-proxy.ts';

const strange = [
  '--skip-character-set-client-handshake',
  '--autocommit=0',
  '--completion-type=CHAIN',
  '--transaction-isolation=SERIALIZABLE',
  '--sql-mode=',
  '--default-time-zone=+05:00',
  // Applies only to users without special rights.
  '--init-connect=set names latin1, foreign_key_checks = 0, sql_select_limit = 1',
];

let server: MariaDb;
let own: Awaited<ReturnType<typeof createDatabase>>;
let url: string;
let root: Connection;
beforeAll(async () => {
  server = await startMariaDb({ extraArguments: strange });
  own = await createDatabase(server.url);
  root = await createConnection(own.url);
  await root.query(`create user plain@'127.0.0.1' identified by 'plain'`);
  await root.query(`grant all on ${new URL(own.url).pathname.slice(1)}.* to plain@'127.0.0.1'`);
  url = Object.assign(new URL(own.url), { username: 'plain', password: 'plain' }).href;
});
afterAll(async () => {
  await root.end();
  await server.stop();
});

describe('on a server with strange defaults', () => {
  let database: Database;
  beforeAll(() => {
    database = new Database(url, { patient: true });
  });
  afterAll(() => database.close());

  test('migrations work, and every session sees the migrated schema', async () => {
    await migrateUp(database);
    const [tables] = await root.query('show tables');
    expect((tables as unknown[]).length).toBeGreaterThan(10);
  });

  test('names, even with emoji, are read back as they were sent, and no result is cut short', async () => {
    const names = ['🐕 Ünï', '犬', 'é'];
    await database.transaction(async (db) => {
      for (const job of names) {
        await db.insertInto('job_leases').values({ job, holder: 'x', lease_until: 0n }).execute();
      }
    });
    const found = await database.run((db) =>
      db.selectFrom('job_leases').select('job').orderBy('job', 'desc').execute(),
    );
    expect(found.map(({ job }) => job)).toEqual(names);
    const [rows] = await root.query('select hex(job) as bytes from job_leases order by job desc');
    expect(rows).toEqual(names.map((name) => ({ bytes: hexOf(name) })));
  });

  test('a connection is not used again after its server stopped accepting writes, as after a failover', async () => {
    holdStopwatch();
    const connection = () =>
      database.db.selectNoFrom(({ fn }) => fn('connection_id', []).as('id')).executeTakeFirst();
    const before = await connection();
    expect(await connection()).toEqual(before);
    // The session of `root` is in a transaction here, so this opens another one.
    const admin = await createConnection(own.url);
    await admin.query('set global read_only = 1');
    jest.advanceTimersByTime(1_001);
    expect(await connection()).not.toEqual(before);
    await admin.query('set global read_only = 0');
    await admin.end();
    jest.useRealTimers();
  });
});

const hexOf = (text: string): string => Buffer.from(text).toString('hex').toUpperCase();

describe('on a server that does not allow session settings', () => {
  let proxy: MysqlProxy;
  beforeAll(async () => {
    proxy = await startMysqlProxy(url);
  });
  afterAll(() => proxy.stop());

  const characters = /^set character_set_client/;

  test.each([
    ['refuses', characters, 1231, 'refused by the test'],
    ['accepts without effect', characters, 0, 'autocommit is "OFF" and has to be "ON"'],
    [
      'would keep the locks of a lost connection for hours',
      /^set wait_timeout/,
      0,
      'wait_timeout is "28800" and has to be "60"',
    ],
  ])('and %s, the first query fails with the reason', async (_how, statement, errno, words) => {
    proxy.refuse([{ statement, errno }]);
    const database = new Database(proxy.url);
    const failure = await database.ping().catch((error: unknown) => error as Error);
    await database.close();
    expect(String(failure?.cause)).toContain(words);
  });
});

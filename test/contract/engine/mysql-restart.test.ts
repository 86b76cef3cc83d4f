import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { migrateUp } from '../../../src/adapters/kysely/migrations.ts';
import { Unavailable } from '../../../src/kernel/ports.ts';
import { openDatabase } from '../../support/servers/databases.ts';
import { createDatabase, startMariaDb, type MariaDb } from '../../support/servers/mariadb.ts';
import { until } from '../../support/until.ts';

let server: MariaDb;
let url: string;
beforeAll(async () => {
  server = await startMariaDb();
  ({ url } = await createDatabase(server.url));
});
afterAll(() => server.stop());

const wayOf = {
  'is restarted': () => server.restart(),
  'crashes and comes back': async () => {
    await server.kill();
    await server.restart();
  },
};

test.each(Object.keys(wayOf) as (keyof typeof wayOf)[])(
  'when the server %s under load, all acknowledged data is kept, and the pool recovers automatically',
  async (what) => {
    const observer = openDatabase(url);
    await migrateUp(observer);
    const database = new Database(url);
    const find = database.prepare<{ job: string }, { job: string }>((db, the) =>
      db.selectFrom('job_leases').select('job').where('job', '=', the('job')),
    );
    const stored: string[] = [];
    const failures: unknown[] = [];
    let isOver = false;
    const load = async (who: number): Promise<void> => {
      for (let at = 0; !isOver; at++) {
        const row = { job: `${what} ${who} ${at}`, holder: 'test', lease_until: 0n };
        try {
          await database.transaction((db) => db.insertInto('job_leases').values(row).execute());
          stored.push(row.job);
          expect(await find({ job: row.job })).toEqual([{ job: row.job }]);
        } catch (error) {
          failures.push(error);
          await until('it answers', () =>
            database.ping().then(
              () => true,
              () => false,
            ),
          );
        }
      }
    };
    const loads = Array.from({ length: 16 }, (_, who) => load(who));
    await until('it works', () => stored.length > 100);
    await wayOf[what]();
    const before = stored.length;
    await until('it works again', () => stored.length > before + 100);
    isOver = true;
    await Promise.all(loads);
    expect(failures.filter((error) => !(error instanceof Unavailable))).toEqual([]);
    const rows = await observer.db.selectFrom('job_leases').select('job').execute();
    const there = new Set(rows.map(({ job }) => job));
    expect(stored.filter((job) => !there.has(job))).toEqual([]);
    await database.close();
    await observer.close();
  },
);

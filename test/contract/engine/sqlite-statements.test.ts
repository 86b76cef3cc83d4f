import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import SqliteDatabase from 'better-sqlite3';
import fc from 'fast-check';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { RecordingTracer } from '../../support/recording-tracer.ts';
import type { TestDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';

const tracer = new RecordingTracer();
let home: TestDatabase;
let database: Database;
beforeEach(async () => {
  home = await migratedDatabase('sqlite');
  database = new Database(home.url, { patient: true, tracer });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await database.close();
  await home.drop();
});

const jobs = Array.from({ length: 8 }, (_, n) => `job-${n}`);
const fill = async (): Promise<void> => {
  const rows = jobs.map((job) => ({ job, holder: 'nobody', lease_until: 0n }));
  await database.db.insertInto('job_leases').values(rows).execute();
};
const jobsWhere = async (how: 'in' | 'not in', wanted: readonly string[]) => {
  const all = database.db.selectFrom('job_leases').select('job').orderBy('job');
  return (await all.where('job', how, wanted).execute()).map(({ job }) => job);
};

test('lists of any length share a few statement texts and select the same rows', async () => {
  await fill();
  const lists = fc.array(fc.constantFrom(...jobs, 'none'), { maxLength: 3000, size: 'max' });
  tracer.steps.length = 0;
  await fc.assert(
    fc.asyncProperty(lists, async (wanted) => {
      expect(await jobsWhere('in', wanted)).toEqual(jobs.filter((job) => wanted.includes(job)));
      expect(await jobsWhere('not in', wanted)).toEqual(
        jobs.filter((job) => !wanted.includes(job)),
      );
    }),
  );
  for (let length = 1; length <= 1024; length += 1) {
    await jobsWhere('in', Array<string>(length).fill('job-3'));
  }
  const texts = tracer.steps.map(({ facts }) => facts['db.query.text']);
  expect(new Set(texts).size).toBeLessThanOrEqual(2 * 14);
});

test('a statement is prepared only once, even after thousands of others', async () => {
  const prepare = jest.spyOn(SqliteDatabase.prototype, 'prepare');
  const ask = (name: string) =>
    database.run((db) => db.selectFrom('job_leases').select(`job as ${name}`).execute());
  for (let n = 0; n < 3000; n += 1) await ask(`rare_${n}`);
  for (let times = 0; times < 5; times += 1) await ask('often');
  expect(prepare.mock.calls.filter(([text]) => text.includes('"often"'))).toHaveLength(1);
});

import { expect, test } from '@jest/globals';
import { workerJobs, type WorkerPorts } from '../../../src/app/jobs.ts';
import { sweptTables } from '../../../src/app/retention.ts';
import { SettableClock } from '../../memory/settable-clock.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

const now = new Date('2026-03-01T10:00:00Z');
const hour = 60 * 60_000;
const day = 24 * hour;

/** What the jobs that forget delete: tables, and the age in milliseconds from which on. */
const swept: [table: string, age: number][] = [];
const jobs = workerJobs({
  ...(Object.fromEntries(
    ['relay', 'sites', 'secureSites', 'planRenewals', 'dueDomains'].map((port) => [
      port,
      mustNotBeUsed(port),
    ]),
  ) as unknown as WorkerPorts),
  retention: {
    sweep: (table, before) => {
      swept.push([table, now.getTime() - before.getTime()]);
      return Promise.resolve(0);
    },
  },
  clock: new SettableClock(now),
  verifierSchedule: '* * * * * *',
}).filter(({ name }) => name.startsWith('forget '));

test('each kind of old data is deleted after its own period', async () => {
  for (const job of jobs) await job.run();
  expect(Object.fromEntries(swept)).toEqual({
    sessions: day,
    sign_in_links: day,
    quota_counters: 3 * day,
    usage_hours: 90 * day,
    idempotency_keys: day,
    routes: day,
    certificates: day,
    domain_timeline: 90 * day,
    authority_ledger: 8 * day,
    events: 7 * day,
  });
});

test('old data is deleted hourly, each kind at a different minute', () => {
  const schedules = jobs.map(({ schedule }) => schedule);
  for (const one of schedules) expect(one).toMatch(/^\d+ [1-5]?\d \* \* \* \*$/);
  expect(new Set(schedules).size).toBe(sweptTables.length);
});

import { Bell } from '../../../src/kernel/signals.ts';
import { expect, test } from '@jest/globals';
import { workerJobs, type WorkerPorts } from '../../../src/app/jobs.ts';
import { sweptTables } from '../../../src/app/retention.ts';
import { SettableClock } from '../../support/settable-clock.ts';

const now = new Date('2026-03-01T10:00:00Z');
const hour = 60 * 60_000;
const day = 24 * hour;

/** The deletions of the jobs: tables, and the age in milliseconds from which rows are deleted. */
const swept: [table: string, age: number][] = [];
const asked: ((() => boolean) | undefined)[] = [];
const goesOn = () => false;
let looks = 0;
let oldest: Date | undefined = new Date(0);
const nothing: WorkerPorts = new Proxy({} as WorkerPorts, { get: () => nothing });
const all = workerJobs({
  queues: nothing.queues,
  bells: nothing.bells,
  leased: () => () => Promise.resolve('done'),
  notifications: nothing.notifications,
  access: nothing.access,
  log: nothing.log,
  retention: {
    oldest: () => Promise.resolve(oldest),
    sweep: (table, before, isStopping) => {
      asked.push(isStopping);
      swept.push([table, now.getTime() - before.getTime()]);
      return Promise.resolve(0);
    },
  },
  domains: {
    endDomains: nothing.domains.endDomains,
    planRenewals: nothing.domains.planRenewals,
    sitesDueAt: nothing.domains.sitesDueAt,
    secureSites: nothing.domains.secureSites,
    forgetOwnNames: (isStopping) => {
      asked.push(isStopping);
      return Promise.resolve((looks += 1));
    },
  },
  sites: {
    endOldProjects: nothing.sites.endOldProjects,
    endsDueAt: nothing.sites.endsDueAt,
    endProjectsOf: nothing.sites.endProjectsOf,
    uploadsCutOffAt: () => Promise.resolve(now),
    giveUpCutOffUploads: (isStopping) => {
      asked.push(isStopping);
      return Promise.resolve(0);
    },
  },
  census: {
    news: new Bell(),
    run: (isStopping) => {
      asked.push(isStopping);
      return Promise.resolve('done');
    },
  },
  clock: new SettableClock(now),
  verifierSchedule: '* * * * * *',
});
const jobs = all.filter(({ name }) => name.startsWith('forget '));

test('each kind of old data is deleted after its own period', async () => {
  for (const job of jobs) await job.run(goesOn);
  expect(Object.fromEntries(swept)).toEqual({
    sessions: day,
    sign_in_links: day,
    mail_requests: 2 * day,
    quota_counters: 3 * day,
    usage_hours: 90 * day,
    usage_days: 90 * day,
    idempotency_keys: day,
    routes: day,
    certificates: day,
    domain_timeline: 90 * day,
    dns_challenges: day,
    domain_shares: day,
    authority_ledger: 8 * day,
    events: 7 * day,
    notices: 90 * day,
    mails: 30 * day,
    webhook_deliveries: 30 * day,
    webhook_attempts: 30 * day,
  });
});

test('every job that works in batches can find out whether the process is stopping', async () => {
  const others = ['give up cut-off', 'delete certificates of our own', 'count what is stored'];
  for (const job of [
    ...jobs,
    ...all.filter(({ name }) => others.some((one) => name.startsWith(one))),
  ]) {
    asked.length = 0;
    await job.run(goesOn);
    expect([job.name, asked]).toEqual([job.name, [goesOn]]);
  }
});

test('old data is deleted hourly, each kind at a different minute', () => {
  const schedules = jobs.map(({ schedule }) => schedule);
  for (const one of schedules) expect(one).toMatch(/^\d+ [1-5]?\d \* \* \* \*$/);
  expect(new Set(schedules).size).toBe(sweptTables.length);
});

test('stored rows are counted at the start too, so that a restart leaves no gap in the metrics', () => {
  const atStart = all.filter(({ isAtStart }) => isAtStart);
  expect(atStart.map(({ name }) => name)).toEqual(['count what is stored']);
});

test('leftovers of our own certificates are cleaned up hourly', async () => {
  const job = all.find(({ name }) => name.startsWith('delete certificates of our own'));
  expect(job?.schedule).toMatch(/^\d+ \d+ \* \* \* \*$/);
  const before = looks;
  await job?.run(goesOn);
  expect(looks).toBe(before + 1);
});

test('a table without old rows is not swept, and is checked again once its oldest rows are old, at most hourly', async () => {
  const usage = jobs.find(({ name }) => name === 'forget usage');
  swept.length = 0;
  oldest = new Date(now.getTime() - 80 * day);
  expect(await usage?.run(goesOn)).toEqual({ nextAt: new Date(now.getTime() + 10 * day) });
  oldest = new Date(now.getTime() - 90 * day + 1);
  expect(await usage?.run(goesOn)).toEqual({ nextAt: new Date(now.getTime() + hour) });
  oldest = undefined;
  expect(await usage?.run(goesOn)).toEqual({ nextAt: new Date(now.getTime() + 90 * day) });
  expect(swept).toEqual([]);
});

import { beforeEach, expect, test } from '@jest/globals';
import { highUseOf, type HighUse } from '../../../src/access/domain/quota.ts';
import { HighUseReporter } from '../../../src/adapters/metering/usage-recorder.ts';

const now = new Date('2026-03-01T10:00:00Z');
const limits = { perMinute: 60, perDay: 1000 };
const resetsAt = new Date('2026-03-02T00:00:00Z');

test.each([
  [799, undefined],
  [800, 'warning'],
  [999, 'warning'],
  [1000, 'reached'],
  [1500, 'reached'],
])('%i of 1000 requests of the day are %s', (day, level) => {
  const use = highUseOf(limits, { minute: 1, day }, now);
  expect(use?.level).toBe(level);
  if (use) expect(use).toEqual({ level, used: Math.min(day, 1000), limit: 1000, resetsAt });
});

let reported: string[];
let isAway: boolean;
let reporter: HighUseReporter;
beforeEach(() => {
  reported = [];
  isAway = false;
  reporter = new HighUseReporter(({ accountId, level, resetsAt: end }) => {
    if (isAway) return Promise.reject(new Error('away'));
    reported.push(`${accountId} ${level} ${end.toISOString().slice(0, 10)}`);
    return Promise.resolve();
  });
});
const use = (draft: Partial<HighUse> = {}): HighUse => ({
  level: 'warning',
  used: 800,
  limit: 1000,
  resetsAt,
  ...draft,
});

test('an account is reported only once for each level and day, however many requests it makes', async () => {
  for (let n = 0; n < 3; n += 1) {
    reporter.note('acct_1', use());
    reporter.note('acct_1', use());
    await reporter.flush();
  }
  reporter.note('acct_1', use({ level: 'reached' }));
  reporter.note('acct_2', use());
  await reporter.flush();
  reporter.note('acct_1', use({ resetsAt: new Date('2026-03-03T00:00:00Z') }));
  await reporter.flush();
  expect(reported).toEqual([
    ...['acct_1 warning 2026-03-02', 'acct_1 reached 2026-03-02', 'acct_2 warning 2026-03-02'],
    'acct_1 warning 2026-03-03',
  ]);
});

test('a report that failed is part of the next report', async () => {
  isAway = true;
  reporter.note('acct_1', use());
  await expect(reporter.flush()).rejects.toThrow('away');
  isAway = false;
  await reporter.flush();
  await reporter.flush();
  expect(reported).toEqual(['acct_1 warning 2026-03-02']);
});

test('the first use to report triggers the report', async () => {
  let rung = 0;
  reporter.news.listen(() => (rung += 1));
  reporter.note('acct_1', use());
  reporter.note('acct_2', use());
  expect([rung, await reporter.flush()]).toEqual([1, true]);
  reporter.note('acct_1', use());
  expect(rung).toBe(1);
  reporter.note('acct_1', use({ level: 'reached' }));
  expect(rung).toBe(2);
});

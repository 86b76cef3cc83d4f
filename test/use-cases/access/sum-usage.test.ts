import { beforeEach, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import { planLimits } from '../../../src/access/domain/quota.ts';
import type { HourOfUsage, UsageLog } from '../../../src/access/ports.ts';
import { accessLabs } from '../../support/access/access-lab.ts';

const accessLab = accessLabs();
const now = new Date('2026-03-01T10:30:00Z');
const hour = (number: number) => new Date(Date.UTC(2026, 2, 1, number));

let face: Access;
let usage: UsageLog;
let accountId: string;
let secret: string;
let keyId: string;
beforeEach(async () => {
  const { face: opened, ports } = await accessLab(now, {
    endings: [{ operation: 'getToy', removedAt: now }],
  });
  [face, usage] = [opened, ports.usage];
  const draft = { name: 'Zoo', email: 'owner@zoo.example', plan: 'pro' } as const;
  const { account, key } = await face.createAccount(draft);
  [accountId, secret, keyId] = [account.id, key.secret, key.id];
});

const used = (draft: Partial<HourOfUsage>): HourOfUsage => {
  const place = { accountId, keyId, operation: 'listPets', outcome: '2xx' } as const;
  return { ...place, hour: hour(9), requests: 1, ...draft };
};

test('sums show what is left of the minute and the day, and reading them uses nothing', async () => {
  for (let n = 0; n < 3; n++) await face.meterCaller(await face.authenticate(secret));
  for (let n = 0; n < 2; n++) {
    const { windows, limits } = await face.sumUsage(accountId, hour(0), 'hour');
    expect(limits).toEqual(planLimits.pro);
    expect(windows).toEqual({
      minute: {
        window: 'minute',
        limit: 300,
        remaining: 297,
        resetAt: new Date('2026-03-01T10:31:00Z'),
      },
      day: {
        window: 'day',
        limit: 10_000,
        remaining: 9997,
        resetAt: new Date('2026-03-02T00:00:00Z'),
      },
    });
  }
});

test('sums are by the hour or the day, starting at a given time', async () => {
  const rows = [
    used({ hour: hour(-1) }),
    used({}),
    used({ keyId: 'key_2' }),
    used({ hour: hour(8) }),
  ];
  await usage.add(rows, new Map());
  const hours = await face.sumUsage(accountId, hour(8), 'hour');
  expect(hours.sums.map(({ begin, requests }) => [begin, requests])).toEqual([
    [hour(8), 1],
    [hour(9), 2],
  ]);
  const days = await face.sumUsage(accountId, hour(-24), 'day');
  expect(days.sums.map(({ begin, requests }) => [begin, requests])).toEqual([
    [hour(-24), 1],
    [hour(0), 3],
  ]);
});

test('calls to deprecated operations are shown for 30 days, whatever the period of the sums', async () => {
  const rows = [
    used({ operation: 'getToy', hour: hour(-24 * 29), requests: 5 }),
    used({ operation: 'getToy', hour: hour(-24 * 31), requests: 7 }),
    used({ operation: 'getPet' }),
  ];
  await usage.add(rows, new Map());
  const { deprecated } = await face.sumUsage(accountId, hour(9), 'hour');
  const lastHour = hour(-24 * 29);
  expect(deprecated).toEqual([{ keyId, operation: 'getToy', requests: 5, lastHour }]);
});

test('an account that does not exist has no sums', async () => {
  const unknown = face.sumUsage('acct_nobody', hour(0), 'hour');
  await expect(unknown).rejects.toHaveProperty('code', 'account_not_found');
});

import { beforeEach, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import { planLimits } from '../../../src/access/domain/quota.ts';
import type { HourOfUsage, UsageLog } from '../../../src/access/ports.ts';
import { accessLabs } from '../../support/access/access-lab.ts';

const accessLab = accessLabs();
const now = new Date('2026-03-01T10:30:00Z');
const nextMinute = new Date('2026-03-01T10:31:00Z');
const hour = (number: number) => new Date(Date.UTC(2026, 2, 1, number));

let face: Access;
let usage: UsageLog;
let accountId: string;
let secret: string;
beforeEach(async () => {
  const { face: opened, ports } = await accessLab(now);
  [face, usage] = [opened, ports.usage];
  const draft = { name: 'Zoo', email: 'owner@zoo.example', plan: 'pro' } as const;
  const { account, key } = await face.createAccount(draft);
  [accountId, secret] = [account.id, key.secret];
});

const used = (keyId: string, operation: string, at: number, requests: number): HourOfUsage => {
  return { accountId, keyId, operation, outcome: '2xx', hour: hour(at), requests };
};

test('an account that used nothing has everything left', async () => {
  expect(await face.showUsage(accountId, hour(0))).toEqual({
    limits: planLimits.pro,
    quota: {
      kind: 'allowed',
      limits: planLimits.pro,
      speaks: { window: 'minute', limit: 300, remaining: 300, resetAt: nextMinute },
    },
    hours: [],
    deprecated: [],
  });
});

test('the remaining quota depends on requests only, and looking uses nothing', async () => {
  for (let n = 0; n < 3; n++) await face.meterCaller(await face.authenticate(secret));
  for (let n = 0; n < 2; n++) {
    const { quota } = await face.showUsage(accountId, hour(0));
    expect(quota.speaks).toMatchObject({ window: 'minute', remaining: 297 });
  }
});

test('the hours begin at the given time', async () => {
  const hours = [8, 9, 10].map((at) => used('key_1', 'listPets', at, at));
  await usage.add(hours, new Map());
  const shown = await face.showUsage(accountId, hour(9));
  expect([shown.hours, shown.deprecated]).toEqual([hours.slice(1), []]);
});

test('each key that calls a deprecated operation is listed with its count and last call', async () => {
  const late = { ...used('key_1', 'getPet', 9, 2), outcome: '4xx' } as const;
  const calls = [used('key_1', 'getPet', 8, 5), late, used('key_2', 'getPet', 7, 1)];
  await usage.add([...calls, used('key_3', 'listPets', 9, 9)], new Map());
  const { deprecated } = await face.showUsage(accountId, hour(0));
  expect(deprecated).toHaveLength(2);
  expect(deprecated).toEqual(
    expect.arrayContaining([
      { keyId: 'key_1', operation: 'getPet', requests: 7, lastHour: hour(9) },
      { keyId: 'key_2', operation: 'getPet', requests: 1, lastHour: hour(7) },
    ]),
  );
});

test('an account that does not exist has no usage', async () => {
  const unknown = face.showUsage('acct_nobody', hour(0));
  await expect(unknown).rejects.toHaveProperty('code', 'account_not_found');
});

import { expect, test } from '@jest/globals';
import { openAccount } from '../../../src/access/domain/account.ts';
import { plans } from '../../../src/access/domain/plan.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { allowancesByPlan, PlanAllowances } from '../../../src/app/plan-allowances.ts';
import { bytesInWords } from '../../../src/kernel/text.ts';
import { now } from '../../support/accounts.ts';

const gib = 1024 ** 3;
const agreed = allowancesByPlan(
  loadConfig({ ENTERPRISE_PROJECT_LIMIT: '60', ENTERPRISE_STORAGE_GIB: '70' }),
);

test('each plan limits projects and files', () => {
  const rooms = plans.map((plan) => [agreed[plan].projects, agreed[plan].storedBytes / gib]);
  expect(rooms).toEqual([
    [3, 1],
    [20, 10],
    [100, 100],
    [60, 70],
  ]);
});

test('an account has the limits of its plan, and callers without an account have the smallest', async () => {
  const accounts = plans.map((plan) => {
    const draft = { id: `acct_${plan}`, name: 'Zoo', email: 'zoo@shop.example', plan };
    return openAccount(draft, now).state;
  });
  const find = (id: string) => Promise.resolve(accounts.find((one) => one.id === id));
  const allowances = new PlanAllowances({ find }, agreed);
  for (const plan of plans) expect(await allowances.of(`acct_${plan}`)).toEqual(agreed[plan]);
  expect(await allowances.of('acct_nobody')).toEqual(agreed.free);
});

test.each([
  [0, '0 B'],
  [980, '980 B'],
  [1024, '1 KiB'],
  [45_928_653, '43.8 MiB'],
  [gib, '1 GiB'],
  [2000 * gib, '2.0 TiB'],
])('%d bytes are %s for people', (bytes, words) => {
  expect(bytesInWords(bytes)).toBe(words);
});

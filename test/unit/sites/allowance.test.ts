import { expect, test } from '@jest/globals';
import { changePlan, openAccount } from '../../../src/access/domain/account.ts';
import { plans } from '../../../src/access/domain/quota.ts';
import { PlanAllowances } from '../../../src/app/plan-allowances.ts';
import { bytesInWords } from '../../../src/kernel/text.ts';
import { gib, planAllowances } from '../../../src/sites/domain/project.ts';
import { now } from '../../support/accounts.ts';

test('each plan limits projects and files', () => {
  const rooms = plans.map((plan) => [
    planAllowances[plan].projects,
    planAllowances[plan].storedBytes / gib,
  ]);
  expect(rooms).toEqual([
    [3, 1],
    [20, 10],
    [100, 100],
    [1000, 1000],
  ]);
});

test("an account has its plan's limits or its own agreed limits, and callers without an account have the smallest limits", async () => {
  const accounts = plans.map((plan) => {
    const draft = { id: `acct_${plan}`, name: 'Zoo', email: 'zoo@shop.example', plan };
    return openAccount(draft, now).state;
  });
  const sites = { projects: 60, storageGib: 70 };
  const [big] = accounts.slice(-1);
  const agreed = changePlan({ ...big!, id: 'acct_agreed' }, { plan: 'enterprise', sites }, now);
  const all = [...accounts, agreed.state];
  const find = (id: string) => Promise.resolve(all.find((one) => one.id === id));
  const allowances = new PlanAllowances({ find });
  for (const plan of plans)
    expect(await allowances.of(`acct_${plan}`)).toEqual(planAllowances[plan]);
  expect(await allowances.of('acct_agreed')).toEqual({
    ...planAllowances.enterprise,
    projects: 60,
    storedBytes: 70 * gib,
  });
  expect(await allowances.of('acct_nobody')).toEqual(planAllowances.free);
});

test.each([
  [0, '0 B'],
  [980, '980 B'],
  [1024, '1 KiB'],
  [45_928_653, '43.8 MiB'],
  [gib, '1 GiB'],
  [2000 * gib, '2.0 TiB'],
])('%d bytes are displayed as %s', (bytes, words) => {
  expect(bytesInWords(bytes)).toBe(words);
});

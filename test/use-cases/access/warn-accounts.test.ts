import { beforeEach, expect, test } from '@jest/globals';
import { removalSteps } from '../../../src/access/domain/account.ts';
import { warnOfHighUse } from '../../../src/access/use-cases/accounts.ts';
import { later, now } from '../../support/accounts.ts';
import { accessLabs, type AccessLab } from '../../support/access/access-lab.ts';

const day = 24 * 60 * 60_000;
const accessLab = accessLabs();
const never = () => false;

let lab: AccessLab;
let accountId: string;
let keyId: string;
beforeEach(async () => {
  lab = await accessLab(now, { endings: [{ operation: 'getPet', removedAt: later(100 * day) }] });
  const draft = { email: 'owner@zoo.example', plan: 'pro' } as const;
  await lab.face.createAccount({ name: 'Quiet', ...draft });
  const { account, key } = await lab.face.createAccount({ name: 'Zoo', ...draft });
  [accountId, keyId] = [account.id, key.id];
});

const told = async () =>
  (await lab.happened()).filter(({ type }) => /^(?:quota|operation)_/.test(type));
const call = () => {
  const request = { accountId, keyId, operation: 'getPet', outcome: '2xx' } as const;
  return lab.ports.usage.add([{ ...request, hour: lab.clock.now(), requests: 1 }], new Map());
};

test('an account that still calls an operation is notified at each step before its removal', async () => {
  const days: number[] = [];
  for (let elapsed = 0; elapsed <= 102; elapsed += 1) {
    const before = (await told()).length;
    await call();
    await lab.face.warnOfRemovals(never);
    if ((await told()).length > before) days.push(100 - elapsed);
    lab.clock.advance(day);
  }
  expect(days).toEqual(removalSteps.toReversed());
  expect(new Set((await told()).map((event) => event.accountId))).toEqual(new Set([accountId]));
});

test('an account that starts to call a deprecated operation again is notified then', async () => {
  lab.clock.advance(40 * day);
  await lab.face.warnOfRemovals(never);
  expect(await told()).toEqual([]);
  await call();
  await lab.face.warnOfRemovals(() => true);
  expect(await told()).toEqual([]);
  await lab.face.warnOfRemovals(never);
  await lab.face.warnOfRemovals(never);
  expect(await told()).toMatchObject([{ type: 'operation_removal', accountId, days: 60 }]);
});

test('an account whose last call was more than 30 days ago is not notified', async () => {
  await call();
  lab.clock.advance(40 * day);
  await lab.face.warnOfRemovals(never);
  expect(await told()).toEqual([]);
});

test('twenty processes that report the same use of the day lead to one event', async () => {
  const use = { level: 'reached', used: 10, limit: 10, resetsAt: later(day) } as const;
  const warn = warnOfHighUse(lab.ports);
  await Promise.all(Array.from({ length: 20 }, () => warn({ accountId, ...use })));
  expect(await told()).toMatchObject([{ type: 'quota_reached', accountId }]);
});

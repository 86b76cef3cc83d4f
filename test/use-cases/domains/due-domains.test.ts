import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { QueueWorker } from '../../../src/adapters/schedule/queue-worker.ts';
import { queueKinds } from '../../../src/app/queues.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { Unavailable } from '../../../src/kernel/ports.ts';
import { liveDomain, servedProject } from '../../support/domains/custom-domains.ts';
import { after, live, minute, verified } from '../../support/domains/known-domains.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';
import { until } from '../../support/until.ts';

const log = pino({ level: 'silent' });
const now = after(minute);
const open = storesOfTests();

test.each([
  ['a fault of the service', new Error('on fire'), 5 * minute],
  ['an outage of the database', new Unavailable('The database', new Error('gone')), 0],
])('work on a domain is due again at its time after %s', async (_what, error, pauseMs) => {
  const stores = await open();
  const { id } = await liveDomain(stores, await servedProject(stores));
  const dueAt = (await stores.dueDomains.nextDueAt())!;
  const clock = new SettableClock(dueAt);
  const tended: string[] = [];
  const tend = (domain: CustomDomain) => {
    tended.push(domain.id);
    return Promise.reject(error);
  };
  const { dueDomains } = stores;
  const worker = new QueueWorker(queueKinds.domains({ dueDomains, tend, clock, log }), {
    clock,
    log,
  });
  await worker.run();
  await worker.stop();
  expect(tended).toEqual([id]);
  expect(await dueDomains.nextDueAt()).toEqual(new Date(dueAt.getTime() + pauseMs));
});

test('checks and orders have separate limits', async () => {
  const clock = new SettableClock(now);
  const { inTurn } = queueKinds.domains({
    dueDomains: mustNotBeUsed('dueDomains'),
    tend: mustNotBeUsed('tend'),
    clock,
    log,
  });
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const begun: string[] = [];
  const all = [...Array<CustomDomain>(110).fill(live), ...Array<CustomDomain>(30).fill(verified)];
  const working = all.map((domain, n) =>
    inTurn!({ id: `dom_${n}`, claim: 'claim_1', domain }, async () => {
      begun.push(domain.state);
      await promise;
    }),
  );
  await until('all that has room is begun', () => begun.length >= 120);
  expect(begun.filter((state) => state === 'verified')).toHaveLength(20);
  expect(begun).toHaveLength(120);
  resolve(undefined);
  await Promise.all(working);
});

import { expect, test } from '@jest/globals';
import { caBudgets } from '../../../src/domains/domain/certificates/ca-budget.ts';
import { planRenewals } from '../../../src/domains/use-cases/plan-renewals.ts';
import { around, domainLab, host, type DomainLab } from '../../support/domains/domain-lab.ts';
import { certificateOf, after, day, hour } from '../../support/domains/known-domains.ts';

const suggest = async ({ authority, ports }: DomainLab, from: number, to: number) => {
  const { chain } = (await ports.certificates.find(host))!;
  authority.suggestRenewal(chain, { start: after(from), end: after(to), askAgainAt: after(day) });
};

test('a renewal is planned within the window that the authority suggests', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  await suggest(lab, 40 * day, 42 * day);
  expect(await planRenewals(lab.ports)()).toBe(1);
  expect(certificateOf(await lab.current(live)).nextAttemptAt).toEqual(after(41 * day));
  lab.clock.set(after(41 * day));
  await lab.tendDue();
  expect(await lab.current(live)).toMatchObject({ state: 'live', generation: 2 });
});

test('an authority is not asked again before its Retry-After', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  await suggest(lab, 40 * day, 42 * day);
  await planRenewals(lab.ports)();
  await suggest(lab, 20 * day, 22 * day);
  lab.clock.advance(day / 2);
  expect(await planRenewals(lab.ports)()).toBe(0);
  expect(certificateOf(await lab.current(live)).nextAttemptAt).toEqual(after(41 * day));
  lab.clock.advance(day / 2);
  expect(await planRenewals(lab.ports)()).toBe(1);
  expect(certificateOf(await lab.current(live)).nextAttemptAt).toEqual(after(21 * day));
});

test('a renewal happens now when the authority suggests it', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  lab.clock.advance(day);
  await suggest(lab, 0, hour);
  await planRenewals(lab.ports)();
  await lab.tendDue();
  expect(await lab.current(live)).toMatchObject({ generation: 2 });
  await lab.tendDue();
  expect(lab.asked('order')).toBe(2);
});

test('without a suggestion it is renewed with a third of its life left', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  expect(await planRenewals(lab.ports)()).toBe(0);
  expect(certificateOf(await lab.current(live)).nextAttemptAt).toEqual(after(60 * day));
  lab.clock.set(after(60 * day - 1));
  await lab.tendDue();
  expect(lab.asked('order')).toBe(1);
});

test('a renewal in progress is not planned again', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  lab.clock.advance(60 * day);
  lab.authority.failNext('order', { reason: 'rate_limited', retryAt: after(62 * day) });
  await lab.tendDue();
  await suggest(lab, 0, hour);
  await planRenewals(lab.ports)();
  expect(certificateOf(await lab.current(live)).nextAttemptAt).toEqual(after(62 * day));
});

test('a renewal that the authority recognises uses no budget', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  const spent = {
    accountId: live.accountId,
    host,
    registrableDomain: 'example.com',
    orderKey: 'order',
    isManual: false,
  };
  lab.clock.advance(60 * day);
  const entry = { ...spent, kind: 'issued', occurredAt: lab.clock.now() } as const;
  for (let n = 0; n < caBudgets.exactName.stopAt; n++)
    await lab.ports.ledger.settle({ entered: [entry] });
  await suggest(lab, 50 * day, 51 * day);
  await lab.tendDue();
  expect(await lab.current(live)).toMatchObject({ generation: 2 });
});

test('an authority that already suggested a renewal is not asked again when it begins', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  await suggest(lab, 0, hour);
  await planRenewals(lab.ports)();
  const authority = around(lab.ports.authority, 'renewalWindow', {
    before: () => {
      throw new Error('nobody expected to be asked');
    },
  });
  lab.clock.advance(hour);
  await lab.tendDue({ authority });
  expect(await lab.current(live)).toMatchObject({ generation: 2 });
});

test('a clock that jumps 60 days ahead renews once, without a storm', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  lab.clock.advance(60 * day);
  for (let n = 0; n < 10; n++) await lab.tendDue();
  expect(await lab.current(live)).toMatchObject({ state: 'live', generation: 2 });
  expect(lab.asked('order')).toBe(2);
});

test('a clock that jumps ahead of the authority’s orders no more than the budget allows', async () => {
  const lab = await domainLab();
  await lab.addLive();
  // The authority keeps issuing by its own clock, so that its certificates are always due soon.
  const authority = around(lab.ports.authority, 'look', {
    before: () => lab.clock.advance(-80 * day),
    after: () => lab.clock.advance(80 * day),
  });
  lab.clock.advance(80 * day);
  for (let n = 0; n < 7 * 24; n++) {
    await lab.tendDue({ authority });
    lab.clock.advance(hour);
  }
  expect(lab.asked('order') - 1).toBeLessThanOrEqual(caBudgets.exactName.stopAt);
  expect(lab.asked('order')).toBeGreaterThan(1);
});

test('a clock that is an hour behind does no harm', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  const { length: asked } = lab.authority.log;
  lab.clock.advance(-hour);
  await lab.tendDue();
  await planRenewals(lab.ports)();
  expect(await lab.current(live)).toEqual(live);
  expect(lab.authority.log).toHaveLength(asked);
  lab.clock.set(after(60 * day));
  await lab.tendDue();
  expect(await lab.current(live)).toMatchObject({ state: 'live', generation: 2 });
});

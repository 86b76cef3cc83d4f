import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { isReady, isReadyAt } from '../../../src/domains/domain/attachment/serving.ts';
import { newsAt } from '../../../src/domains/domain/attachment/due-work.ts';
import { takeEvents } from '../../support/accounts.ts';
import { routesIn } from '../../support/domains/custom-domains.ts';
import {
  closeLabs,
  domainLab,
  forbiddingCaa,
  host,
  type DomainLab,
} from '../../support/domains/domain-lab.ts';
import { none, records } from '../../support/domains/known-dns.ts';
import { after, day, hour, minute } from '../../support/domains/known-domains.ts';

afterEach(closeLabs);

// The end of an added domain whose challenge name leads to us.

const elsewhere = { cname: none, a: records('203.0.113.5') };
const undelegated = { ...elsewhere, delegation: none };

let lab: DomainLab;
let domain: CustomDomain;
beforeEach(async () => {
  lab = await domainLab('acme.platform.test');
  domain = await lab.add();
  lab.delegate(domain, elsewhere);
});

const at = async (milliseconds: number): Promise<CustomDomain> => {
  lab.clock.set(after(milliseconds));
  await lab.tendDue();
  await lab.tendDue();
  return lab.current(domain);
};
/** The checks and attempts of a period, few enough for a test. */
const daily = async (from: number, to: number): Promise<CustomDomain> => {
  for (let n = from; n < to; n++) await at(n * day);
  return at(to * day);
};
const awayFor = (times: number): void => {
  for (let n = 0; n < times; n++) lab.authority.failNext('look', { reason: 'unavailable' });
};

test('an expired certificate is deleted with its route and key, and attempts to replace it continue', async () => {
  const ready = await at(2 * minute);
  awayFor(1000);
  await daily(60, 90);
  const before = await lab.current(domain);
  expect([isReady(before), isReadyAt(before, after(90 * day + hour))]).toEqual([true, false]);
  expect(before.dns.nextCheckAt!.getTime()).toBeLessThanOrEqual(after(90 * day + hour).getTime());
  await takeEvents(lab.stores);
  const ended = await at(90 * day + hour);
  expect([ready.certificate.kind, ended.certificate.kind]).toEqual(['issued', 'wanted']);
  expect((await takeEvents(lab.stores)).map(({ type }) => type)).toContain('domain_unprepared');
  expect((await routesIn(lab.stores, lab.project)).get(host)).toBeUndefined();
  const { certificates } = await lab.stores.edgeRecords.changesSince(0n);
  expect(certificates.find((one) => one.host === host)).toBeUndefined();
  expect(ended.certificate).toMatchObject({
    work: { step: 'ordered', attempts: { firstAt: after(60 * day) } },
  });
  expect([lab.asked('order'), await lab.keptOrders(domain)]).toEqual([2, [2]]);
});

test('a ready domain is checked when its certificate ends', async () => {
  await at(2 * minute);
  lab.delegate(domain, { ...elsewhere, ...forbiddingCaa });
  await daily(80, 89);
  const { certificate, dns } = await at(90 * day - minute);
  expect(certificate.kind === 'issued' && certificate.notAfter).toEqual(dns.nextCheckAt);
});

test('one check without the delegation does not remove a domain that is older than 30 days', async () => {
  awayFor(1000);
  await daily(1, 29);
  lab.point(domain, undelegated);
  await at(30 * day + hour);
  expect((await lab.current(domain)).state).toBe('added');
  lab.delegate(domain, elsewhere);
  expect((await at(31 * day)).state).toBe('added');
});

test.each([
  [
    'whose name the authority refused',
    () => lab.authority.failNext('order', { reason: 'rejected_name' }),
  ],
  [
    'whose certificate CAA forbids',
    () => {
      lab.authority.failNext('look', { reason: 'challenge' });
    },
  ],
])('a domain %s expires when its owner does nothing', async (why, cause) => {
  cause();
  await at(2 * minute);
  if (why.includes('CAA')) lab.delegate(domain, { ...elsewhere, ...forbiddingCaa });
  const waiting = await daily(1, 29);
  expect(waiting).toMatchObject({ state: 'added', certificate: { kind: 'wanted' } });
  expect(await daily(30, 32)).toMatchObject({ state: 'removed', reason: 'expired' });
});

test('a missing certificate is reported while the domain is ready and while it has visitors, even if CAA blocks verification', async () => {
  const missedAt = async () => newsAt(await lab.current(domain));
  const overdue = after(83 * day + 2 * minute);
  await at(2 * minute);
  expect(await missedAt()).toEqual(overdue);
  lab.point(domain, undelegated);
  await at(2 * hour);
  expect(await missedAt()).toBeUndefined();
  lab.point(domain, { ...forbiddingCaa, delegation: none });
  await at(day);
  expect((await lab.current(domain)).state).toBe('added');
  expect(await missedAt()).toEqual(overdue);
  await takeEvents(lab.stores);
  await at(overdue.getTime() - after(0).getTime());
  const types = (await takeEvents(lab.stores)).map(({ type }) => type);
  expect(types).toContain('certificate_failing');
});

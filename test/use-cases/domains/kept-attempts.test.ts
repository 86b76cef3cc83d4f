import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { isReady } from '../../../src/domains/domain/attachment/serving.ts';
import { attemptAt } from '../../../src/domains/domain/attachment/due-work.ts';
import { closeLabs, domainLab, type DomainLab } from '../../support/domains/domain-lab.ts';
import { none, records, timeout } from '../../support/domains/known-dns.ts';
import { after, day, hour, minute } from '../../support/domains/known-domains.ts';

afterEach(closeLabs);

// The authorities' answers about a certificate before the traffic, when the DNS changes meanwhile.

const traffic = {
  elsewhere: { cname: none, a: records('203.0.113.5') },
  here: {},
};
const undelegated = { ...traffic.elsewhere, delegation: none };

let lab: DomainLab;
let domain: CustomDomain;
beforeEach(async () => {
  lab = await domainLab('acme.platform.test');
  domain = await lab.add();
  lab.delegate(domain, traffic.elsewhere);
});

const at = async (milliseconds: number): Promise<CustomDomain> => {
  lab.clock.set(after(milliseconds));
  await lab.tendDue();
  return lab.current(domain);
};
const leadHere = (): void => lab.delegate(domain, traffic.here);
const attemptsOf = ({ certificate }: CustomDomain) =>
  certificate.kind === 'none' ? undefined : certificate.work.attempts;

const limited = async (): Promise<CustomDomain> => {
  lab.authority.failNext('order', { reason: 'rate_limited', retryAt: after(day) });
  return at(2 * minute);
};

test.each(['leads here', 'loses its delegation for one check'])(
  'an authority that asked us to wait is not contacted before that, even when the name %s',
  async (change) => {
    const before = await limited();
    if (change === 'leads here') leadHere();
    else {
      lab.point(domain, undelegated);
      lab.clock.advance(minute);
      await lab.verify(domain);
      lab.delegate(domain, traffic.elsewhere);
    }
    lab.clock.advance(minute);
    await lab.verify(domain);
    const then = await at(2 * hour);
    expect(then.state).toBe(change === 'leads here' ? 'verified' : 'added');
    expect(attemptsOf(then)).toEqual(attemptsOf(before));
    expect(attemptAt(then)).toEqual(after(day));
    expect(lab.asked('order')).toBe(1);
    expect((await at(day + minute)).certificate.kind).toBe('issued');
  },
);

test('failures still count, however often the delegation comes and goes', async () => {
  const asked: number[] = [];
  for (let n = 0; n < 60; n++) {
    lab.authority.failNext('look', { reason: 'challenge' });
    if (n % 2) lab.delegate(domain, traffic.elsewhere);
    else lab.point(domain, undelegated);
    lab.clock.advance(minute);
    await lab.verify(domain);
    await lab.tendDue();
    asked.push(lab.asked('order'));
  }
  // The first at once, then 1 and 10 minutes after a failure; the next one 100 minutes later.
  expect(asked.at(-1)).toBe(3);
  expect(attemptsOf(await lab.current(domain))).toMatchObject({ failed: 3 });
});

test('a name that the authority refused still waits for its owner when it leads here', async () => {
  lab.authority.failNext('order', { reason: 'rejected_name' });
  await at(2 * minute);
  leadHere();
  const refused = await at(hour);
  expect(refused).toMatchObject({
    state: 'verified',
    certificate: { work: { step: 'waits_for_owner' } },
  });
  expect(lab.asked('order')).toBe(1);
  await lab.verify(domain);
  expect((await at(hour + minute)).state).toBe('live');
});

test('an authority that asked us to wait is not contacted before that, even when the owner presses Verify', async () => {
  lab.authority.failNext('order', { reason: 'rejected_name', retryAt: after(day) });
  await at(2 * minute);
  lab.clock.advance(minute);
  await lab.verify(domain);
  expect(attemptAt(await at(hour))).toEqual(after(day));
  expect(lab.asked('order')).toBe(1);
});

test('an earlier lookup in one zone does not count for another zone when nothing can be looked up', async () => {
  const ready = await at(2 * minute);
  lab.delegate(domain, { ...traffic.elsewhere, delegation: timeout });
  lab.clock.advance(minute);
  await lab.verify(domain);
  expect([isReady(ready), isReady(await lab.current(domain))]).toEqual([true, true]);
  const naming = { ...lab.ports.naming, acmeDnsZone: 'other.platform.test' };
  lab.clock.set(after(2 * hour));
  await lab.tendDue({ naming });
  expect(isReady(await lab.current(domain))).toBe(false);
});

test('a renewal under way continues when the certificate has expired and the name leads here', async () => {
  const renewalAt = attemptAt(await at(2 * minute))!;
  lab.authority.failNext('look', { reason: 'unavailable' });
  lab.clock.set(renewalAt);
  await lab.tendDue();
  const kept = await lab.keptOrders(domain);
  lab.clock.set(after(91 * day));
  leadHere();
  await lab.verify(domain);
  expect(await lab.current(domain)).toMatchObject({
    state: 'verified',
    certificate: { work: { step: 'ordered' } },
  });
  expect([kept, await lab.keptOrders(domain)]).toEqual([[2], [2]]);
  expect((await at(91 * day + minute)).state).toBe('live');
  expect([await lab.keptOrders(domain), lab.asked('order')]).toEqual([[], 2]);
});

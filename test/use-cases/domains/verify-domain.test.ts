import { afterEach, expect, test } from '@jest/globals';
import { verifyDomain } from '../../../src/domains/use-cases/check-domain.ts';
import { around, closeLabs, domainLab } from '../../support/domains/domain-lab.ts';
import { after, day, minute } from '../../support/domains/known-domains.ts';
import { codeOf } from '../../support/race.ts';

afterEach(closeLabs);

test('of twenty simultaneous clicks, one asks the DNS', async () => {
  const { add, point, ports } = await domainLab();
  const domain = await add();
  point(domain);
  let looks = 0;
  const dns = around(ports.dns, 'inspect', { before: () => (looks += 1) });
  const verify = verifyDomain({ ...ports, dns });
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => verify(domain)));
  const lost = all.flatMap((one) => (one.status === 'rejected' ? [codeOf(one.reason)] : []));
  expect([looks, lost]).toEqual([1, Array.from({ length: 19 }, () => 'verify_too_early')]);
  expect(await ports.domains.get(domain.id)).toMatchObject({ state: 'verified' });
});

test('a domain that is removed during a DNS check stays removed', async () => {
  const { add, current, point, ports, remove } = await domainLab();
  const domain = await add();
  point(domain);
  const dns = around(ports.dns, 'inspect', { after: () => remove(domain) });
  expect(await verifyDomain({ ...ports, dns })(domain).catch(codeOf)).toBe('domain_wrong_state');
  expect(await current(domain)).toMatchObject({ state: 'removed', reason: 'owner' });
});

test('a live domain is only checked', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  lab.clock.advance(minute);
  lab.dns.tell(live.host, {});
  expect(await lab.verify(live)).toMatchObject({ state: 'live', certificate: live.certificate });
  expect(lab.asked('order')).toBe(1);
});

test('the button starts a fresh attempt, but not before the authority’s Retry-After', async () => {
  const lab = await domainLab();
  const domain = await lab.addVerified();
  lab.authority.failNext('order', { reason: 'rate_limited', retryAt: after(day) });
  await lab.tendDue();
  const askedOnce = lab.authority.log.length;
  for (const wait of [31 * minute, 5 * 60 * minute, 17 * 60 * minute]) {
    lab.clock.advance(wait);
    expect(await lab.verify(domain).catch(codeOf)).toBe('reverify_too_early');
    await lab.tendDue();
  }
  expect(lab.authority.log).toHaveLength(askedOnce);
  lab.clock.set(after(day));
  await lab.verify(domain);
  await lab.tendDue();
  expect((await lab.current(domain)).state).toBe('live');
});

test('an attempt that the owner requested may fail once per hour', async () => {
  const lab = await domainLab();
  const domain = await lab.addVerified();
  for (const wait of [0, 31 * minute, 31 * minute]) {
    lab.clock.advance(wait);
    if (wait > 0) await lab.verify(domain);
    lab.authority.failNext('look', { reason: 'challenge' });
    await lab.tendDue();
  }
  expect(await lab.attempts(domain)).toEqual(['failed', 'failed', 'postponed']);
  expect(lab.asked('order')).toBe(2);
});

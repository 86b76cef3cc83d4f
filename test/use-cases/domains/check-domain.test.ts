import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import { checkDomain, verifyDomain } from '../../../src/domains/use-cases/tend-domain.ts';
import { servedProject } from '../../support/domains/custom-domains.ts';
import {
  around,
  closeLabs,
  domainLab,
  forbiddingCaa,
  host,
  ownershipOf,
} from '../../support/domains/domain-lab.ts';
import { facts, none, records } from '../../support/domains/known-dns.ts';
import { after, day, hour, minute } from '../../support/domains/known-domains.ts';
import { codeOf } from '../../support/race.ts';
import { afterEach, expect, test } from '@jest/globals';

afterEach(closeLabs);

const zone = 'acme.platform.test';
/** Still at the old server. */
const elsewhere = { cname: none, a: records('203.0.113.5') };

test('wrong records are reported, and once they are right the domain is verified automatically', async () => {
  const { add, asked, clock, current, dns, kinds, point, tendDue } = await domainLab();
  const domain = await add();
  dns.tell(host, facts());
  clock.advance(minute);
  await tendDue();
  const wrong = await current(domain);
  expect(wrong.state).toBe('added');
  expect(wrong.dns.report?.problems[0]?.code).toBe('cname_missing');
  expect(asked('order')).toBe(0);
  point(domain);
  clock.advance(hour);
  await tendDue();
  expect(await current(domain)).toMatchObject({ state: 'live', generation: 1 });
  const all = ['added', 'checked', 'checked', 'verified', 'checked', 'attempt', 'live'];
  expect(await kinds(domain)).toEqual(all);
});

test('a domain that is not verified within 30 days is removed, and can be added again', async () => {
  const { add, clock, current, ports, tendDue } = await domainLab();
  const domain = await add();
  clock.advance(30 * day);
  await tendDue();
  expect(await current(domain)).toMatchObject({ state: 'removed', reason: 'expired' });
  const [newest] = await ports.timeline.list(domain.id, 1);
  expect(newest).toMatchObject({ kind: 'removed', details: { reason: 'expired' } });
  expect((await add()).state).toBe('added');
});

test('a clock that is an hour behind checks again soon, and removes nothing', async () => {
  const { add, clock, ports, tendDue } = await domainLab();
  const domain = await add();
  clock.advance(minute);
  await tendDue();
  clock.advance(-hour);
  const checked = await checkDomain(ports)(domain, recordCheck);
  expect(checked.state).toBe('added');
  expect(checked.dns.nextCheckAt!.getTime() - clock.now().getTime()).toBeLessThanOrEqual(hour);
});

test('without proof the holder keeps the name, and with proof the claimant gets it with its certificate', async () => {
  const lab = await domainLab();
  const { current, ports, verify } = lab;
  const holder = await lab.addLive();
  const certificate = await ports.certificates.find(host);
  const claimant = await lab.add(await servedProject(lab.stores));
  lab.point(claimant);
  expect(await verify(claimant)).toMatchObject({ state: 'added' });
  expect((await current(holder)).state).toBe('live');
  lab.clock.advance(minute);
  lab.point(claimant, ownershipOf(claimant));
  expect(await verify(claimant)).toMatchObject({ state: 'live' });
  expect(await current(holder)).toMatchObject({ state: 'removed', reason: 'contested' });
  expect(certificate).toBeDefined();
  expect(await ports.certificates.find(host)).toEqual(certificate);
  expect(await lab.kinds(holder)).toContain('removed');
});

test.each([
  ['with proof', true, 'verified', 'removed'],
  ['without proof', false, 'added', 'verified'],
] as const)(
  'a domain whose rival is verified during its DNS lookup is judged again, %s',
  async (_, isProven, state, ofRival) => {
    const lab = await domainLab();
    const domain = await lab.add();
    const rival = await lab.add(await servedProject(lab.stores));
    const rivalVerifies = async () => {
      if ((await lab.current(rival)).state !== 'added') return;
      lab.point(rival);
      await lab.verify(rival);
      lab.point(domain, isProven ? ownershipOf(domain) : {});
    };
    lab.point(domain, isProven ? ownershipOf(domain) : {});
    // Between the lookup of the name's holder and the decision.
    const domains = around(lab.ports.domains, 'holdersOf', { after: rivalVerifies });
    const checked = await checkDomain({ ...lab.ports, domains })(domain, recordCheck);
    expect(checked.state).toBe(state);
    expect((await lab.current(rival)).state).toBe(ofRival);
  },
);

test('a check that a later one has overtaken takes no name back from the account that proved it meanwhile', async () => {
  const lab = await domainLab(zone);
  const domain = await lab.add();
  const rival = await lab.add(await servedProject(lab.stores));
  const check = checkDomain(lab.ports);
  const meanwhile = async () => {
    lab.clock.advance(1000);
    await check(domain, recordCheck);
    lab.delegate(rival, elsewhere);
    lab.clock.advance(1000);
    await check(rival, recordCheck);
  };
  lab.delegate(domain, elsewhere);
  const domains = around(lab.ports.domains, 'change', { before: meanwhile });
  await checkDomain({ ...lab.ports, domains })(domain, recordCheck);
  const kinds = [await lab.current(domain), await lab.current(rival)].map(
    ({ certificate }) => certificate.kind,
  );
  expect(kinds).toEqual(['none', 'wanted']);
});

test('a name that is taken over with its certificate is live from the moment in which it is verified', async () => {
  const lab = await domainLab();
  await lab.addLive();
  const claimant = await lab.add(await servedProject(lab.stores));
  lab.point(claimant, ownershipOf(claimant));
  const slow = around(lab.ports.domains, 'change', { before: () => lab.clock.advance(5000) });
  const live = await checkDomain({ ...lab.ports, domains: slow })(claimant, recordCheck);
  const now = lab.clock.now();
  expect(live).toMatchObject({ state: 'live', verifiedAt: now, liveSince: now });
});

test('a CAA record that forbids our authority is reported before the authority is contacted', async () => {
  const { add, authority, current, point, tendDue, verify } = await domainLab();
  const domain = await add();
  point(domain, forbiddingCaa);
  await verify(domain);
  await tendDue();
  const held = await current(domain);
  expect(held.dns.report?.problems.map(({ code }) => code)).toContain('caa_forbids_issuer');
  expect(held.state).not.toBe('live');
  expect(authority.log).toEqual([]);
});

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

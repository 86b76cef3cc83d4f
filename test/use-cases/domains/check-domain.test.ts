import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import { checkDomain, verifyDomain } from '../../../src/domains/use-cases/tend-domain.ts';
import { servedProject } from '../../support/domains/custom-domains.ts';
import {
  around,
  closeLabs,
  domainLab,
  host,
  ownershipOf,
} from '../../support/domains/domain-lab.ts';
import { facts, none, records } from '../../support/domains/known-dns.ts';
import { hour, minute } from '../../support/domains/known-domains.ts';
import { codeOf } from '../../support/race.ts';
import { afterEach, expect, test } from '@jest/globals';

afterEach(closeLabs);

const zone = 'acme.platform.test';
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

test('the holder keeps the name without proof, and a claimant with proof gets it with its certificate', async () => {
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
    const domains = around(lab.ports.domains, 'holdersOf', { after: rivalVerifies });
    const checked = await checkDomain({ ...lab.ports, domains })(domain, recordCheck);
    expect(checked.state).toBe(state);
    expect((await lab.current(rival)).state).toBe(ofRival);
  },
);

test('an outdated check does not take a name back from the account that proved it meanwhile', async () => {
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

test('only one of twenty simultaneous clicks causes a DNS lookup', async () => {
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

test('an attempt that the owner requested may fail once an hour', async () => {
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

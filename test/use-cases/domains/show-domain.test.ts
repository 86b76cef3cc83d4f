import { recordsToCreate } from '../../../src/adapters/dashboard/domains/records.ts';
import { certificateKinds, domainKinds } from '../../../src/domains/domain/attachment/census.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { recordHints } from '../../../src/domains/domain/dns/records.ts';
import { countDomains, type DomainCensus } from '../../../src/domains/use-cases/count-domains.ts';
import { secureSites } from '../../../src/domains/use-cases/secure-sites.ts';
import { showDomain } from '../../../src/domains/use-cases/show-domain.ts';
import { servedProject } from '../../support/domains/custom-domains.ts';
import { closeLabs, domainLab } from '../../support/domains/domain-lab.ts';
import { facts } from '../../support/domains/known-dns.ts';
import {
  after,
  certificateOf,
  day,
  hour,
  minute,
  start,
} from '../../support/domains/known-domains.ts';
import { afterEach, expect, test } from '@jest/globals';

afterEach(closeLabs);

test('a domain is shown with the records to create and the time of its next check', async () => {
  const { add, ports } = await domainLab();
  const domain = await add();
  const shown = await showDomain(ports)(domain);
  expect(shown.records).toMatchObject([
    { type: 'CNAME', name: 'shop', value: `${domain.token}.sites.test`, required: true },
    { type: 'TXT', value: `animal-store-verify=${domain.token}`, required: false },
  ]);
  expect(shown.bind).toContain(`${domain.token}.sites.test`);
  expect(shown).toMatchObject({ problems: [], health: undefined, nextAt: after(minute) });
  const entry = { kind: 'added', occurredAt: start, details: {} };
  expect(shown.timeline).toMatchObject({ entries: [entry], older: undefined });
});

test('a name that another account has proven says so and asks for the TXT record at once', async () => {
  const lab = await domainLab();
  const holder = await lab.addVerified();
  const rival = await lab.add(await servedProject(lab.stores));
  const txtOf = async (domain: CustomDomain) =>
    (await showDomain(lab.ports)(domain)).records.find(({ type }) => type === 'TXT')?.required;
  expect([await txtOf(rival), await txtOf(holder)]).toEqual([true, false]);
  const shown = await showDomain(lab.ports)(rival);
  expect(shown.contest).toBe(
    `Another account has proven that it owns ${rival.host}. If this name is yours, create the TXT record too: then it moves here.`,
  );
  expect(recordsToCreate([shown]).toString()).toContain(shown.contest);
  expect((await showDomain(lab.ports)(holder)).contest).toBeUndefined();
  await lab.remove(holder);
  expect((await showDomain(lab.ports)(rival)).contest).toBeUndefined();
  expect(await txtOf(rival)).toBe(false);
});

test("a name shows the wildcard's delegation if a wildcard in the same project needs the challenge name", async () => {
  const lab = await domainLab('acme.platform.test');
  const domain = await lab.add();
  const delegationOf = async (of: CustomDomain) => {
    const { records } = await showDomain(lab.ports)(of);
    return records.find(({ purpose }) => purpose === 'delegation')?.value;
  };
  const own = `${domain.token}.acme.platform.test`;
  expect(await delegationOf(domain)).toBe(own);
  const wildcard = await lab.add(lab.project, `*.${domain.host}`);
  const shared = `${wildcard.token}.acme.platform.test`;
  expect([await delegationOf(domain), await delegationOf(wildcard)]).toEqual([shared, shared]);
  const elsewhere = await lab.add(await servedProject(lab.stores));
  expect(await delegationOf(elsewhere)).toBe(`${elsewhere.token}.acme.platform.test`);
  await lab.remove(wildcard);
  expect(await delegationOf(domain)).toBe(own);
});

test('the apex of a zone below the registrable domain has the record and the hint of an apex', async () => {
  const lab = await domainLab();
  const domain = await lab.add();
  const before = await showDomain(lab.ports)(domain);
  lab.dns.tell(domain.host, facts({ isZoneApex: true }));
  const after = await showDomain(lab.ports)(await lab.verify(domain));
  expect(after.records).toMatchObject([{ type: 'ALIAS' }, { type: 'TXT', required: true }]);
  expect(after.hints).toEqual(recordHints({ ...domain, isApex: true }));
  expect(before.hints).toEqual(recordHints({ ...domain, isApex: false }));
});

test('a failure is shown with its reason, the used budget and the next attempt', async () => {
  const lab = await domainLab();
  const domain = await lab.addVerified();
  lab.authority.failNext('look', { reason: 'challenge', detail: 'Connection refused' });
  await lab.tendDue();
  const shown = await showDomain(lab.ports)(await lab.current(domain));
  expect(shown.problems).toMatchObject([
    { code: 'challenge_unreachable', seen: 'Connection refused' },
  ]);
  expect(shown.budget).toEqual({ used: 1, of: 5, windowMs: hour, nextAt: after(minute) });
  expect(shown.nextAt).toEqual(after(minute));
});

test('a problem that both the DNS and the authority report is shown once', async () => {
  const lab = await domainLab();
  const domain = await lab.addVerified();
  lab.dns.tell(domain.host, {});
  await lab.tendDue();
  const held = await lab.current(domain);
  const { problems } = await showDomain(lab.ports)(held);
  expect(certificateOf(held).problem).toBeDefined();
  expect(problems).toEqual(held.dns.report?.problems);
});

test('a live domain is healthy, at risk when its DNS is wrong, and expired after its certificate', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  const kind = async () => (await showDomain(lab.ports)(await lab.current(live))).health?.kind;
  expect(await kind()).toBe('healthy');
  lab.dns.tell(live.host, {});
  lab.clock.advance(day);
  await lab.tendDue();
  expect(await kind()).toBe('at_risk');
  lab.clock.advance(90 * day);
  expect(await kind()).toBe('certificate_expired');
});

const found = ({ domains, certificates }: DomainCensus) => ({
  domains: domains.filter(({ count }) => count > 0),
  certificates: certificates.filter(({ count }) => count > 0),
});

test('the metrics count domains, certificates and the used budget of all accounts', async () => {
  const lab = await domainLab();
  const count = countDomains(lab.ports);
  const none = await count();
  expect(found(none)).toEqual({ domains: [], certificates: [] });
  expect(none.domains).toHaveLength(domainKinds.length);
  expect(none.certificates).toHaveLength(certificateKinds.length);

  await lab.addLive();
  await lab.add(undefined, 'new.example.com');
  await lab.remove(await lab.add(undefined, 'old.example.com'));
  await secureSites(lab.ports)();
  const now = await count();
  const notLive = { health: 'none', actor: 'nobody', count: 1 };
  expect(found(now)).toEqual({
    domains: [
      { state: 'removed', ...notLive },
      { state: 'added', ...notLive },
      { state: 'live', health: 'healthy', actor: 'nobody', count: 1 },
    ],
    certificates: [{ state: 'settled', percentLeft: '60-100', count: 2 }],
  });
  expect(found(await count(() => true)).domains).toEqual([{ state: 'removed', ...notLive }]);
  const authority = 'authority.test';
  expect(now.budgets).toEqual([
    { authority, budget: 'orders', size: 250, left: 248 },
    { authority, budget: 'newOrders', size: 200, left: 198 },
    { authority, budget: 'furtherOrders', size: 125, left: 123 },
  ]);
});

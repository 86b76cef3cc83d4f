import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  isOnlyOverHttp,
  isReady,
  isOpen,
  isServed,
} from '../../../src/domains/domain/attachment/serving.ts';
import { workOn } from '../../../src/domains/domain/certificates/certificate-status.ts';
import { attemptAt, dueAt, newsAt } from '../../../src/domains/domain/attachment/due-work.ts';
import { certificateKindOf } from '../../../src/domains/domain/attachment/census.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { takeEvents } from '../../support/accounts.ts';
import { routesIn, servedProject } from '../../support/domains/custom-domains.ts';
import {
  closeLabs,
  domainLab,
  forbiddingCaa,
  host,
  ownershipOf,
  type DomainLab,
} from '../../support/domains/domain-lab.ts';
import { none, records, timeout } from '../../support/domains/known-dns.ts';
import { begin, day, hour, minute } from '../../support/domains/known-domains.ts';

afterEach(closeLabs);

const zone = 'acme.platform.test';
const elsewhere: Partial<ResolverFacts> = {
  cname: none,
  chain: { names: [], end: 'reached' },
  a: records('203.0.113.5'),
};
const undelegated = { ...elsewhere, delegation: none };

let lab: DomainLab;
beforeEach(async () => {
  lab = await domainLab(zone);
});

/** Advances the clock and runs all due work, at most this many times. */
const pass = async (milliseconds: number, times = 20): Promise<void> => {
  const end = new Date(lab.clock.now().getTime() + milliseconds);
  for (let n = 0; n < times; n++) {
    const all = [...(await lab.ports.domains.inState('added', '', 100))];
    const next = all.map((one) => dueAt(one)?.getTime() ?? Infinity).sort((a, b) => a - b)[0];
    if (next === undefined || next > end.getTime()) break;
    lab.clock.set(new Date(Math.max(next, lab.clock.now().getTime())));
    await lab.tendDue();
  }
  if (lab.clock.now() < end) lab.clock.set(end);
};

const ready = async (to?: Project): Promise<CustomDomain> => {
  const domain = await lab.add(to);
  lab.delegate(domain, elsewhere);
  await pass(2 * minute);
  return lab.current(domain);
};

const route = async (of = lab.project) => (await routesIn(lab.stores, of)).get(host);
const keyOf = async (): Promise<string | undefined> => {
  const { certificates } = await lab.stores.edgeRecords.changesSince(0n);
  return certificates.find((one) => one.host === host)?.privateKey();
};
const types = async () => (await takeEvents(lab.stores)).map(({ type }) => type);

describe('a delegated domain whose traffic goes elsewhere', () => {
  test('gets its certificate, stays "added", and is served to any visitor', async () => {
    await takeEvents(lab.stores);
    const domain = await ready();
    expect(domain).toMatchObject({ state: 'added', certificate: { kind: 'issued' } });
    expect([isReady(domain), isServed(domain), isOpen(domain)]).toEqual([true, true, false]);
    expect(await route()).toMatchObject({ kind: 'site', projectId: lab.project.id });
    expect(await keyOf()).toBeDefined();
    expect(await types()).toEqual([
      ...['domain_added', 'certificate_ordered', 'certificate_issued', 'domain_prepared'],
    ]);
    const kinds = (await lab.kinds(domain)).filter((kind) => kind !== 'checked');
    expect(kinds).toEqual(['added', 'attempt', 'ready']);
  });

  test.each(['the automatic check', 'Verify'])(
    'is verified and live in one step, with its existing certificate, by %s',
    async (by) => {
      const domain = await ready();
      await takeEvents(lab.stores);
      lab.delegate(domain);
      if (by === 'Verify') await lab.verify(domain);
      else await pass(hour, 1);
      const live = await lab.current(domain);
      expect(live).toMatchObject({ state: 'live', certificate: domain.certificate });
      expect(await types()).toEqual(['domain_verified', 'domain_live']);
      expect((await lab.kinds(domain)).slice(-3)).toEqual(['checked', 'verified', 'live']);
      expect(lab.asked('order')).toBe(1);
    },
  );

  test('asks its owner to act on a failed renewal while the certificate is ready and the name is proven', async () => {
    const domain = await ready();
    for (let n = 0; n < 3; n++) lab.authority.failNext('order', { reason: 'rejected_name' });
    lab.clock.set(attemptAt(domain)!);
    await pass(3 * day, 200);
    const failing = { type: 'certificate_failing', problem: 'ca_rejected_name' };
    const told = (await takeEvents(lab.stores)).filter(({ type }) => type === failing.type);
    expect(told).toMatchObject([failing]);
    lab.point(domain, undelegated);
    await pass(hour);
    expect(newsAt(await lab.current(domain))).toBeUndefined();
  });

  test('is counted for operators until the name is no longer proven', async () => {
    const domain = await ready();
    expect(certificateKindOf(domain, lab.clock.now())).toMatchObject({ state: 'settled' });
    lab.point(domain, undelegated);
    await pass(2 * hour, 3);
    expect(certificateKindOf(await lab.current(domain), lab.clock.now())).toBeUndefined();
  });

  test('gets no certificate over HTTP, against CAA or with broken DNSSEC', async () => {
    const domain = await lab.add();
    const value = 'authority.test; validationmethods=http-01';
    const caa = [{ name: 'example.com', answer: records({ flags: 0, tag: 'issue', value }) }];
    lab.delegate(domain, { ...elsewhere, caa });
    await pass(hour);
    const onlyHttp = await lab.current(domain);
    expect(onlyHttp).toMatchObject({ certificate: { kind: 'none' } });
    expect(isOnlyOverHttp(onlyHttp)).toBe(true);
    lab.delegate(domain, { ...elsewhere, ...forbiddingCaa });
    await pass(hour);
    expect(isOnlyOverHttp(await lab.current(domain))).toBe(false);
    const errors = [{ code: 6, text: '' }];
    const unchecked = { question: 'A shop.example.com', errors };
    const cname = { kind: 'failed', reason: 'servfail' } as const;
    lab.delegate(domain, { ...elsewhere, cname, unchecked });
    await pass(hour);
    const { report } = (await lab.current(domain)).dns;
    expect(report?.problems.map(({ code }) => code)).toContain('dnssec_bogus');
    expect(lab.asked('order')).toBe(0);
  });

  test('is renewed by DNS even if the delegation disappears while the order begins', async () => {
    const domain = await ready();
    const report = { ...domain.dns.report!, validation: undefined };
    const asked = { ...domain, dns: { ...domain.dns, report } };
    const { state } = begin(asked, lab.clock.now());
    expect(workOn(state)).toMatchObject({ step: 'ordered', method: 'dns-01' });
  });

  test('is checked every hour, and waits for its owner indefinitely', async () => {
    const domain = await ready();
    await pass(50 * day, 3);
    lab.clock.advance(50 * day);
    await lab.tendDue();
    const waiting = await lab.current(domain);
    expect(waiting.state).toBe('added');
    const wait = waiting.dns.nextCheckAt!.getTime() - lab.clock.now().getTime();
    expect(wait).toBeLessThanOrEqual(hour);
  });

  test('continues the order under way when its traffic arrives first', async () => {
    const domain = await lab.add();
    lab.delegate(domain, elsewhere);
    lab.authority.failNext('look', { reason: 'unavailable' });
    await pass(minute);
    lab.delegate(domain);
    await lab.verify(domain);
    expect(await lab.current(domain)).toMatchObject({
      state: 'verified',
      certificate: { work: { step: 'ordered' } },
    });
    lab.clock.advance(minute);
    await lab.tendDue();
    expect((await lab.current(domain)).state).toBe('live');
    expect(lab.asked('order')).toBe(1);
  });

  test('gets a new order after Verify if the authority had refused the name', async () => {
    const domain = await lab.add();
    lab.delegate(domain, elsewhere);
    lab.authority.failNext('order', { reason: 'rejected_name' });
    await pass(2 * hour);
    expect(await lab.current(domain)).toMatchObject({
      certificate: { kind: 'wanted', work: { step: 'waits_for_owner' } },
    });
    await lab.verify(domain);
    await lab.tendDue();
    expect(isReady(await lab.current(domain))).toBe(true);
  });

  test('is verified without a certificate when that has expired, and then orders a new one', async () => {
    const domain = await ready();
    lab.clock.advance(91 * day);
    lab.delegate(domain);
    await lab.verify(domain);
    expect(await lab.current(domain)).toMatchObject({
      state: 'verified',
      certificate: { kind: 'wanted' },
    });
  });
});

describe('a name whose certificate is ready in one account and that another account proves', () => {
  const takeOver = async (wait: number): Promise<CustomDomain> => {
    await ready();
    const next = await lab.add(await servedProject(lab.stores));
    await pass(wait, 200);
    lab.delegate(next, elsewhere);
    lab.clock.set(dueAt(await lab.current(next))!);
    await lab.tendDue();
    return lab.current(next);
  };

  test('is ready there at once, with the same certificate, and is checked every hour', async () => {
    const taken = await takeOver(10 * day);
    expect([isReady(taken), lab.asked('order')]).toEqual([true, 1]);
    const wait = taken.dns.nextCheckAt!.getTime() - lab.clock.now().getTime();
    expect(wait).toBeLessThanOrEqual(hour);
  });
});

describe('once the delegation is gone', () => {
  test('the domain is neither served nor renewed, and is ready again with the same certificate when the delegation is back', async () => {
    const domain = await ready();
    await takeEvents(lab.stores);
    lab.clock.advance(45 * day);
    await lab.tendDue();
    lab.point(domain, undelegated);
    await pass(2 * hour, 3);
    const gone = await lab.current(domain);
    expect([isReady(gone), gone.certificate.kind, await route()]).toEqual([
      ...[false, 'issued', undefined],
    ]);
    expect((await lab.kinds(domain)).at(-1)).not.toBe('ready');
    lab.clock.set(attemptAt(gone)!);
    await lab.tendDue();
    expect(lab.asked('order')).toBe(1);
    lab.delegate(domain, elsewhere);
    lab.clock.advance(hour);
    await lab.tendDue();
    expect(isReady(await lab.current(domain))).toBe(true);
    expect(await route()).toBeDefined();
    expect((await types()).slice(0, 2)).toEqual(['domain_unprepared', 'domain_prepared']);
    expect(await lab.kinds(domain)).toContain('unready');
  });

  test('the domain stays served while no resolver can look the delegation up', async () => {
    const domain = await ready();
    lab.point(domain, { ...elsewhere, delegation: timeout });
    await pass(2 * hour, 3);
    expect(isReady(await lab.current(domain))).toBe(true);
    expect(await route()).toBeDefined();
  });

  test('the domain expires 30 days later, and its certificate is deleted with it', async () => {
    const domain = await ready();
    lab.clock.advance(50 * day);
    await lab.tendDue();
    lab.point(domain, undelegated);
    lab.clock.advance(29 * day);
    await lab.tendDue();
    expect(await lab.current(domain)).toMatchObject({
      state: 'added',
      certificate: { kind: 'issued' },
    });
    lab.clock.advance(2 * day);
    await lab.tendDue();
    expect(await lab.current(domain)).toMatchObject({ state: 'removed', reason: 'expired' });
    expect(await keyOf()).toBeUndefined();
  });

  test('a wanted certificate waits for the delegation, and an order under way continues', async () => {
    const domain = await lab.add();
    lab.delegate(domain, elsewhere);
    lab.authority.failNext('look', { reason: 'unavailable' });
    await pass(minute);
    lab.point(domain, undelegated);
    await lab.verify(domain);
    expect(await lab.current(domain)).toMatchObject({
      state: 'added',
      certificate: { work: { step: 'ordered' } },
    });
    lab.authority.failNext('look', { reason: 'challenge' });
    await pass(hour);
    expect(await lab.current(domain)).toMatchObject({
      state: 'added',
      certificate: { kind: 'wanted', work: { step: 'waits_for_dns' } },
    });
    expect([await lab.keptOrders(domain), lab.asked('order')]).toEqual([[], 1]);
  });

  test('traffic to the domain still makes it live at once, with its existing certificate', async () => {
    const domain = await ready();
    lab.point(domain, { delegation: none });
    await lab.verify(domain);
    expect(await lab.current(domain)).toMatchObject({ state: 'live' });
    expect(lab.asked('order')).toBe(1);
  });
});

describe('a wildcard and its base name, which share one challenge name,', () => {
  test('are both ready before their traffic comes, if the TXT record proves the base name', async () => {
    const wildcard = await lab.add(lab.project, `*.${host}`);
    const base = await lab.add();
    lab.delegate(wildcard, elsewhere);
    lab.delegate(base, elsewhere, wildcard);
    await pass(2 * minute);
    expect(isReady(await lab.current(wildcard))).toBe(true);
    expect(isReady(await lab.current(base))).toBe(false);
    lab.delegate(base, { ...elsewhere, ...ownershipOf(base) }, wildcard);
    await pass(hour);
    for (const one of [wildcard, base]) expect(isReady(await lab.current(one))).toBe(true);
    lab.delegate(base, elsewhere, wildcard);
    await pass(hour);
    expect(isReady(await lab.current(base))).toBe(false);
  });

  test("need separate proof in different accounts: the wildcard's record does not count for the base name", async () => {
    const stranger = await servedProject(lab.stores);
    const wildcard = await lab.add(lab.project, `*.${host}`);
    lab.delegate(wildcard, elsewhere);
    const base = await lab.add(stranger);
    lab.delegate(base, { ...elsewhere, ...ownershipOf(base) }, wildcard);
    await pass(hour);
    expect(isReady(await lab.current(wildcard))).toBe(true);
    expect(await lab.current(base)).toMatchObject({ certificate: { kind: 'none' } });
  });
});

describe('when several accounts have added a name', () => {
  let stranger: Project;
  let mine: CustomDomain;
  let theirs: CustomDomain;
  beforeEach(async () => {
    stranger = await servedProject(lab.stores);
    mine = await ready();
    await takeEvents(lab.stores);
    theirs = await lab.add(stranger);
  });

  test('the account that the delegation names takes the name from another, with its certificate', async () => {
    expect(await types()).toEqual(['domain_added', 'domain_contested']);
    await pass(hour);
    expect(await lab.current(theirs)).toMatchObject({ certificate: { kind: 'none' } });
    const key = await keyOf();
    lab.delegate(theirs, elsewhere);
    await lab.verify(theirs);
    expect(await keyOf()).toBe(key);
    await lab.tendDue();
    expect(await lab.current(mine)).toMatchObject({
      state: 'added',
      certificate: { kind: 'none' },
    });
    expect(isReady(await lab.current(theirs))).toBe(true);
    expect([await route(), await route(stranger)]).toMatchObject([
      ...[undefined, { projectId: stranger.id }],
    ]);
    expect(lab.asked('order')).toBe(1);
    expect((await types()).filter((type) => type.startsWith('domain_'))).toEqual([
      ...['domain_unprepared', 'domain_prepared', 'domain_contested'],
    ]);
  });

  test('another account needs the TXT record to be verified, and takes the name with it', async () => {
    const delegation = records(`${mine.token}.${zone}`);
    lab.point(theirs, { delegation });
    await lab.verify(theirs);
    const { state, dns } = await lab.current(theirs);
    expect(state).toBe('added');
    expect(dns.report?.problems).toMatchObject([{ code: 'ownership_txt_missing' }]);
    lab.point(theirs, { delegation, ...ownershipOf(theirs) });
    lab.clock.advance(minute);
    await lab.verify(theirs);
    expect((await lab.current(theirs)).state).toBe('live');
    expect(await lab.current(mine)).toMatchObject({
      state: 'added',
      certificate: { kind: 'none' },
    });
    lab.clock.advance(hour);
    await lab.tendDue();
    expect(await lab.current(mine)).toMatchObject({ certificate: { kind: 'none' } });
    expect(await route()).toBeUndefined();
  });

  test('another account no longer needs the TXT record once the delegation is gone', async () => {
    lab.point(theirs, { delegation: none });
    await lab.remove(theirs);
    lab.dns.tell(host, { ...(await lab.dns.inspect(host)).resolvers[0]!, ...undelegated });
    await pass(hour, 3);
    await takeEvents(lab.stores);
    const again = await lab.add(stranger);
    expect(await types()).toEqual(['domain_added']);
    lab.point(again, { delegation: none });
    await lab.verify(again);
    await lab.tendDue();
    expect((await lab.current(again)).state).toBe('live');
    expect(await lab.current(mine)).toMatchObject({ certificate: { kind: 'none' } });
    expect(await route(stranger)).toBeDefined();
  });

  test('no account gets a certificate in advance while another has the name live', async () => {
    lab.delegate(mine);
    await lab.verify(mine);
    const { certificate } = await lab.current(mine);
    lab.delegate(theirs, elsewhere);
    await lab.verify(theirs);
    await pass(hour);
    expect(await lab.current(theirs)).toMatchObject({ certificate: { kind: 'none' } });
    expect(await lab.current(mine)).toMatchObject({ state: 'live', certificate });
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { caWindows, type LedgerName } from '../../../src/domains/domain/certificates/ca-budget.ts';
import { Unavailable } from '../../../src/kernel/ports.ts';
import {
  unchanged,
  type CustomDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { DomainPorts } from '../../../src/domains/ports.ts';
import { postponeAttempt } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import { certifyDomain } from '../../../src/domains/use-cases/tend-domain.ts';
import {
  around,
  closeLabs,
  domainLab,
  forbiddingCaa,
  host,
  type DomainLab,
} from '../../support/domains/domain-lab.ts';
import { showDomain } from '../../../src/domains/use-cases/show-domain.ts';
import { record, servedProject } from '../../support/domains/custom-domains.ts';
import {
  certificateOf,
  after,
  day,
  hour,
  minute,
  start,
} from '../../support/domains/known-domains.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

afterEach(closeLabs);

let lab: DomainLab;
beforeEach(async () => {
  lab = await domainLab();
});

test('a domain is added, verified, served, renewed and removed', async () => {
  const live = await lab.addLive();
  const { ports } = lab;
  expect(live).toMatchObject({ state: 'live', liveSince: start, generation: 1 });
  const first = await ports.certificates.find(host);
  lab.clock.advance(60 * day);
  await lab.tendDue();
  const renewed = await lab.current(live);
  expect(renewed).toMatchObject({ state: 'live', liveSince: start, generation: 2 });
  expect(certificateOf(renewed).notAfter).toEqual(after(150 * day));
  expect(await ports.certificates.find(host)).not.toEqual(first);
  expect(await lab.keptOrders(live)).toEqual([]);
  await lab.remove(renewed);
  expect(await ports.certificates.find(host)).toBeUndefined();
  expect((await lab.kinds(live)).filter((kind) => kind !== 'checked')).toEqual([
    ...['added', 'verified', 'attempt', 'live', 'attempt', 'renewed', 'removed'],
  ]);
  expect(await lab.attempts(live)).toEqual(['issued', 'issued']);
});

/** Only resolvers that do not validate still see the records. */
const brokenDnssec = {
  cname: { kind: 'failed', reason: 'servfail' },
  unchecked: { question: `CNAME ${host}`, errors: [{ code: 6, text: '' }] },
} as const;

describe('before an order', () => {
  test.each([
    ['a CAA record that forbids it', forbiddingCaa, 'caa_forbids_issuer'],
    ['broken DNSSEC', brokenDnssec, 'dnssec_bogus'],
  ])('%s delays it without contacting the authority', async (_, known, code) => {
    const domain = await lab.addVerified();
    lab.point(domain, known);
    await lab.tendDue();
    const held = await lab.current(domain);
    expect(certificateOf(held)).toMatchObject({
      status: 'failed',
      waitsForDns: true,
      nextAttemptAt: undefined,
      isOrdered: false,
      problem: { code },
    });
    expect(lab.authority.log).toEqual([]);
    lab.point(domain);
    lab.clock.advance(hour);
    await lab.tendDue();
    expect((await lab.current(domain)).state).toBe('live');
  });

  test('an exhausted budget postpones it, and nothing is requested', async () => {
    const domain = await lab.addVerified();
    for (let n = 0; n < 4; n++)
      await lab.stores.edgeWriter.writeLedger({ entered: [{ ...spent(domain), kind: 'issued' }] });
    await lab.tendDue();
    const postponed = await lab.current(domain);
    expect(certificateOf(postponed).nextAttemptAt).toEqual(after(7 * day));
    expect([lab.authority.log, await lab.keptOrders(domain)]).toEqual([[], []]);
    expect(await lab.attempts(domain)).toEqual(['postponed']);
    lab.clock.set(after(7 * day));
    await lab.tendDue();
    expect((await lab.current(domain)).state).toBe('live');
  });
});

const spent = ({ accountId, host: name, registrableDomain }: CustomDomain) => {
  const occurredAt = lab.clock.now();
  const key = { authority: 'authority.test', orderKey: 'o' };
  return { ...key, accountId, host: name, registrableDomain, isManual: false, occurredAt };
};

describe('the share of an account', () => {
  /** Adds, verifies and removes domains as fast as possible. */
  const churn = async (times: number) => {
    const names = Array.from({ length: times }, (_, n) => `shop${String(n)}.example.com`);
    for (const name of names) {
      const domain = await lab.add(lab.project, name);
      lab.point(domain);
      await lab.verify(domain);
      await lab.tendDue();
      await lab.remove(domain);
    }
  };

  test('is not enlarged by removing and adding domains, and other accounts get their certificates', async () => {
    await churn(30);
    expect(lab.asked('order')).toBe(10);
    const other = await lab.add(await servedProject(lab.stores), 'shop.other.com');
    lab.point(other);
    await lab.verify(other);
    await lab.tendDue();
    expect((await lab.current(other)).state).toBe('live');
  });

  test('delays a domain without a DNS lookup once it is used up, and this is recorded once, whatever is checked meanwhile', async () => {
    await churn(10);
    const domain = await lab.addVerified();
    const inspected = mustNotBeUsed<DomainPorts['dns']>('dns');
    for (let n = 0; n < 3; n++) {
      await lab.ports.domains.change(domain.id, (one) => unchanged(postponeAttempt(one, start)));
      await lab.tendDue({ dns: inspected });
      await record(lab.stores, domain.id, { kind: 'checked', occurredAt: start, details: {} });
    }
    expect(await lab.attempts(domain)).toEqual(['postponed']);
    const held = await lab.current(domain);
    expect(certificateOf(held).nextAttemptAt).toEqual(after(hour));
    const { budget } = await showDomain(lab.ports)(held);
    expect(budget.heldUpBy).toEqual({ reason: 'accountHour', nextAt: after(hour) });
    lab.clock.advance(hour);
    await lab.tendDue();
    expect((await lab.current(domain)).state).toBe('live');
  });

  test('records once that others took the last place, however often that happens', async () => {
    await churn(10);
    const domain = await lab.addVerified();
    const { ledger, domains } = lab.ports;
    const isFree = new Proxy(ledger, {
      get: (target, method) =>
        method === 'use'
          ? (name: LedgerName, now: Date) => target.use({ ...name, accountId: 'acc_other' }, now)
          : (Reflect.get(target, method) as unknown),
    });
    for (let n = 0; n < 3; n++) {
      await domains.change(domain.id, (one) => unchanged(postponeAttempt(one, start)));
      await lab.tendDue({ ledger: isFree });
    }
    expect(await lab.attempts(domain)).toEqual(['postponed']);
    expect(lab.asked('order')).toBe(10);
  });
});

describe('a new attempt that the owner requested', () => {
  const failNext = async () => {
    lab.authority.failNext('look', { reason: 'challenge' });
    await lab.tendDue();
  };
  const budgets = async () => {
    const use = await lab.ports.ledger.use(
      {
        authority: 'authority.test',
        accountId: lab.project.accountId,
        host,
        registrableDomain: 'example.com',
      },
      lab.clock.now(),
    );
    return [use.manualFailures.length, use.automaticFailures.length];
  };

  test('counts as requested when it fails, and scheduled ones after it do not', async () => {
    const domain = await lab.addVerified();
    await failNext();
    lab.clock.advance(caWindows.automaticFailures.lengthMs);
    await lab.verify(domain);
    await failNext();
    expect(await budgets()).toEqual([1, 0]);
    lab.clock.advance(minute);
    await failNext();
    expect(await budgets()).toEqual([1, 1]);
    expect(await lab.attempts(domain)).toEqual(['failed', 'failed', 'failed']);
    lab.clock.advance(10 * minute);
    await lab.tendDue();
    expect((await lab.current(domain)).state).toBe('live');
  });
});

describe('the same order continues', () => {
  test('when it is checked while the authority takes its time', async () => {
    const domain = await lab.addVerified();
    let looks = 0;
    const look: DomainPorts['authority']['look'] = () => {
      looks += 1;
      return Promise.resolve({ kind: 'processing', askAgainAfterMs: 60_000 });
    };
    const authority = new Proxy(lab.authority, {
      get: (target, name) => {
        const value: unknown = name === 'look' ? look : Reflect.get(target, name);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    await lab.tendDue({ authority });
    expect(certificateOf(await lab.current(domain)).nextAttemptAt).toEqual(after(minute));
    await lab.tendDue({ authority });
    expect(looks).toBe(1);
    lab.clock.advance(minute);
    await lab.tendDue();
    expect([(await lab.current(domain)).state, lab.asked('order')]).toEqual(['live', 1]);
  });
});

describe('a late result', () => {
  const steps = ['newPrivateKey', 'order', 'look', 'prove', 'finalize'] as const;
  const moments = steps.flatMap((step) => [['before', step] as const, ['after', step] as const]);

  test.each(moments)('is not kept when the domain is removed %s %s', async (when, step) => {
    const domain = await lab.addVerified();
    const remove = { [when]: () => lab.remove(domain) };
    await lab.tendDue({ authority: around(lab.ports.authority, step, remove) });
    expect((await lab.current(domain)).state).toBe('removed');
    expect(await lab.keptOrders(domain)).toEqual([]);
    expect(await lab.ports.certificates.find(domain.host)).toBeUndefined();
    if (step === 'newPrivateKey') expect(lab.authority.log).toEqual([]);
  });

  test('is not served under a later attachment', async () => {
    const domain = await lab.addVerified();
    let second = domain;
    const readd = {
      after: async () => {
        if (second !== domain) return;
        await lab.remove(domain);
        second = await lab.add();
        lab.point(second);
        await lab.verify(second);
      },
    };
    await lab.tendDue({ authority: around(lab.ports.authority, 'finalize', readd) });
    expect(await lab.ports.certificates.find(host)).toBeUndefined();
    expect((await lab.current(second)).state).toBe('verified');
    await lab.tendDue();
    expect(await lab.current(second)).toMatchObject({ state: 'live', generation: 1 });
    const served = await lab.ports.certificates.find(host);
    expect(served?.chain).toContain('certificate 2 of');
  });

  test('only one of two workers on a domain does the work', async () => {
    const domain = await lab.addVerified();
    const work = certifyDomain(lab.ports);
    await Promise.all([work(domain), work(domain)]);
    expect((await lab.current(domain)).state).toBe('live');
    expect([lab.asked('order'), lab.asked('finalize')]).toEqual([1, 1]);
    expect(await lab.attempts(domain)).toEqual(['issued']);
    expect(await lab.keptOrders(domain)).toEqual([]);
  });

  test('a worker with a stale order does not contact the authority', async () => {
    const domain = await lab.addVerified();
    lab.authority.failNext('order', { reason: 'unavailable' });
    await lab.tendDue();
    const stale = await lab.current(domain);
    lab.clock.advance(minute);
    await lab.tendDue();
    const { length: asked } = lab.authority.log;
    await certifyDomain(lab.ports)(stale);
    expect(lab.authority.log).toHaveLength(asked);
    expect(await lab.keptOrders(domain)).toEqual([]);
  });
});

test('an unreachable database is reported, and the order continues later', async () => {
  const domain = await lab.addVerified();
  const orders = around(lab.ports.orders, 'publish', {
    before: () => {
      throw new Unavailable('The database', undefined);
    },
  });
  await expect(lab.tendDue({ orders })).rejects.toThrow(Unavailable);
  await lab.tendDue();
  expect([(await lab.current(domain)).state, lab.asked('order')]).toEqual(['live', 1]);
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newChallengeZone, openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { ordersOf } from '../lab/authority/ca-gate.ts';
import { goLive, validationMethods, pointFor } from '../lab/going-live.ts';
import { labIssuer } from '../lab/authority/pebble-lab.ts';
import type { SecureVisitor } from '../lab/secure-visitor.ts';
import type { Shop } from '../lab/shop.ts';
import type { ValidationMethod } from '../../src/domains/domain/dns/validation.ts';
import { until } from '../support/until.ts';

const hour = 60 * 60;
const day = 24 * hour;
/** One for each validation method. */
const domains = validationMethods.map(({ word, method }) => ({
  host: `www.time-${word}.test`,
  method,
}));
const hosts = domains.map(({ host }) => host);

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let visitor: SecureVisitor;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', {}, { ...clock.settings, ...(await newChallengeZone()) });
  shop = await lab.openShop('zoo');
  await lab.start();
  visitor = await lab.visitor();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

interface Wanted {
  readonly host: string;
  readonly method: ValidationMethod;
}

const goLiveBy = async (...wanted: readonly Wanted[]): Promise<void> => {
  for (const { host, method } of wanted) pointFor(lab, method, await shop.add(host));
  await goLive({ lab, clock }, ...wanted.map(({ host }) => host));
};

const serials = (): Promise<readonly string[]> =>
  Promise.all(hosts.map(async (host) => (await visitor.get(host)).serial));

/** @returns once each host has another certificate */
const areReplaced = (before: readonly string[]): Promise<true> =>
  until('other certificates are served', async () => {
    const now = await serials();
    return now.every((serial, at) => serial !== before[at]);
  });

test('when the clock jumps ahead by two months, each certificate is renewed at once, and only once', async () => {
  await goLiveBy(...domains);
  const before = await serials();
  await clock.advance(60 * day);
  await areReplaced(before);
  // By then the worker has checked several times.
  await goLiveBy({ host: 'www.later.test', method: 'http-01' });
  for (const { host, method } of domains) {
    expect(ordersOf(lab.gate, host)).toHaveLength(2);
    const { domain } = await shop.show(host);
    expect(domain).toMatchObject({ state: 'live', certificate: { status: 'issued' } });
    expect(domain.dns.report?.validation?.method).toBe(method);
  }
});

test('the owner is notified and the site is still served while CAA forbids renewal', async () => {
  const before = await serials();
  const allow = (value: string): void => {
    for (const host of hosts)
      lab.zone.set(host.replace('www.', ''), { CAA: [{ tag: 'issue', value }] });
  };
  allow(';');
  await clock.advance(5 * day);
  for (const host of hosts) {
    const shown = await until('the owner is told', async () => {
      const view = await shop.show(host);
      return view.problems.some(({ code }) => code === 'caa_forbids_issuer') && view;
    });
    expect(shown).toMatchObject({
      domain: { state: 'live', certificate: { status: 'issued' } },
      problems: [{ code: 'caa_forbids_issuer' }],
      health: { kind: 'at_risk' },
    });
    expect(ordersOf(lab.gate, host)).toHaveLength(2);
  }
  expect(await serials()).toEqual(before);

  allow(labIssuer);
  await clock.advance(2 * hour);
  await areReplaced(before);
});

test('everything keeps working when the clock is set back', async () => {
  await clock.advance(-30 * day);
  await goLiveBy(
    ...validationMethods.map(({ word, method }) => ({ host: `www.earlier-${word}.test`, method })),
  );
  for (const host of hosts) expect((await visitor.get(host)).status).toBe(200);
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { finalizesOf, ordersOf, unanswered } from '../lab/authority/ca-gate.ts';
import { newChallengeZone, openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive, validationMethods, pointFor } from '../lab/going-live.ts';
import type { Shop } from '../lab/shop.ts';
import type { Service } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';
import { type CaFault, caPlaces } from '../lab/authority/gate-caa.ts';

const hang = { hang: true, times: 1 };
/** One domain of each method gets stuck at each of them; with `after` the authority has done what it was asked for. */
const stuck: readonly CaFault[] = [
  { match: caPlaces.newOrder, after: true, ...hang },
  { match: caPlaces.authorization, ...hang },
  { match: caPlaces.challenge, after: true, ...hang },
  { match: caPlaces.finalize, after: true, ...hang },
  { match: caPlaces.certificate, ...hang },
];
/** Those of one method belong to one shop: one account may have ten new orders in an hour. */
const domainsOf = ({ word, method }: (typeof validationMethods)[number]) =>
  stuck.map((fault, n) => {
    const host = `www.shop-${n}-${word}.test`;
    return { host, method, fault: { ...fault, host } };
  });
const domains = validationMethods.flatMap(domainsOf);
const hosts = domains.map(({ host }) => host);
const faults = domains.map(({ fault }) => fault);

let clock: FakeClock;
let lab: DomainLab;
let shops: readonly { readonly shop: Shop; readonly domains: typeof domains }[];
let service: Service;

const untilHanging = async (...places: readonly RegExp[]): Promise<void> => {
  for (const place of places) {
    const hangs = () => unanswered(lab.gate, place).length === validationMethods.length;
    await until(`they hang at ${String(place)}`, hangs);
  }
};

const kill = async (): Promise<void> => {
  await service.end('SIGKILL');
  lab.gate.setFaults();
};

/** The authority visits the edge once it was told to, and a visit that the kill cuts off would fail the challenge. */
const untilVisited = async (): Promise<void> => {
  const told = lab.gate.asked(caPlaces.challenge).filter(({ payload }) => payload !== undefined);
  const areOver = async () => (await lab.pebble.judgedChallenges()) === told.length;
  await until('all visits of the authority are over', areOver);
};

/** Claims of the dead process last for half a minute. */
const startAgain = async (...faults: readonly CaFault[]): Promise<void> => {
  lab.gate.setFaults(...faults);
  service = await lab.start();
  await clock.advance(30);
};

beforeAll(async () => {
  clock = await newFakeClock();
  const settings = { ...clock.settings, ...(await newChallengeZone()) };
  lab = await openDomainLab('sqlite', {}, settings);
  shops = await Promise.all(
    validationMethods.map(async (one) => ({
      shop: await lab.openShop(one.word),
      domains: domainsOf(one),
    })),
  );
  service = await lab.start();
  await lab.settle(...shops.map(({ shop }) => shop));
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

const add = async (shop: Shop, { host, method }: (typeof domains)[number]): Promise<void> => {
  pointFor(lab, method, await shop.add(host));
};

/** What came of one domain, after its order may have been lost once more. */
const expectOneCertificate = async (host: string): Promise<void> => {
  const isTold = async () => (await lab.facts.outcomes(host)).includes('issued');
  await until('what came of it is told', isTold);
  const asked = ordersOf(lab.gate, host);
  const unheard = asked.filter(({ status }) => status === 0).map(() => 'unanswered');
  expect(await lab.facts.outcomes(host)).toEqual([...unheard, 'issued']);
  expect(await lab.facts.privateKeys(host)).toBe(1);
  // The order whose answer was lost is requested again; all others continue.
  expect(asked).toHaveLength(1 + unheard.length);
  expect(await lab.facts.countedOrders(host)).toBe(asked.length);
  expect(finalizesOf(lab.gate, host)).toHaveLength(1);
};

test('killed at every step of issuances over HTTP and by DNS at once, the next process goes on with the same orders, and each order counts', async () => {
  lab.gate.setFaults(...faults);
  await Promise.all(shops.flatMap(({ shop, domains }) => domains.map((one) => add(shop, one))));
  await clock.advance(120);
  await untilHanging(...stuck.map(({ match }) => match));
  await untilVisited();
  await kill();

  // The orders whose answers were lost are requested again, and those answers are lost too. The authority hears of no challenge.
  const { length: before } = unanswered(lab.gate, caPlaces.newOrder);
  const lost = faults.filter(({ match }) => match === caPlaces.newOrder);
  await startAgain(...lost, { match: caPlaces.challenge, hang: true });
  const all = before + lost.length;
  await until('they hang again', () => unanswered(lab.gate, caPlaces.newOrder).length === all);
  await kill();

  await startAgain();
  await goLive({ lab, clock }, ...hosts);
  for (const host of hosts) await expectOneCertificate(host);
  for (const { shop, domains } of shops) {
    for (const { host, method } of domains) {
      const { domain } = await shop.show(host);
      expect(domain.dns.report?.validation?.method).toBe(method);
    }
  }
  expect(unanswered(lab.gate, caPlaces.newOrder)).toHaveLength(all);
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { caPlaces } from '../lab/ca-gate-faults.ts';
import { openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { finalizesOf, ordersOf, unanswered } from '../lab/gate-log.ts';
import type { SecureVisitor } from '../lab/secure-visitor.ts';
import type { Shop } from '../lab/shop.ts';
import { findFreePort } from '../support/debian-server.ts';
import { until } from '../support/until.ts';

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let visitor: SecureVisitor;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('mysql', { badNoncePercent: 15 }, clock.settings);
  shop = await lab.openShop('zoo');
  const other = { ROLES: 'worker', PORT: String(await findFreePort()) };
  await Promise.all([lab.start(), lab.start(other)]);
  visitor = await lab.visitor();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

const add = async (host: string): Promise<void> => {
  const { records } = await shop.add(host);
  lab.zone.set(host, { CNAME: [records[0].value] });
};

/** On a busy machine name servers can be too slow for a check: then the next one of the schedule counts. */
const waitUntilLive = async (hosts: readonly string[], looks = 3): Promise<void> => {
  await clock.advance(600);
  try {
    for (const host of hosts) await lab.facts.waitForState(host, 'live', 15_000);
  } catch (error) {
    if (looks === 1) throw error;
    await waitUntilLive(hosts, looks - 1);
  }
};

test('two workers order one certificate for each of many domains', async () => {
  const hosts = Array.from({ length: 20 }, (_, n) => `www.shop-${n}.test`);
  await Promise.all(hosts.map(add));
  await waitUntilLive(hosts);
  const asked = hosts.map((host) => [
    ordersOf(lab.gate, host).length,
    finalizesOf(lab.gate, host).length,
  ]);
  expect(asked).toEqual(hosts.map(() => [1, 1]));
  const outcomes = () => Promise.all(hosts.map((host) => lab.facts.outcomes(host)));
  await until('all is told', async () => (await outcomes()).every(({ length }) => length > 0));
  expect(await outcomes()).toEqual(hosts.map(() => ['issued']));
});

test('of twenty who verify a domain at the same time one does, and one certificate is ordered', async () => {
  const host = 'www.impatient.test';
  await add(host);
  // However long they take: it is the same moment for all.
  await clock.stop();
  const rivals = Array.from({ length: 20 }, () => shop.tell('verify', host));
  const results = await Promise.all(rivals);
  expect(results.filter(({ code }) => code === 0)).toHaveLength(1);
  for (const { code, stdout, stderr } of results.filter((one) => one.code !== 0)) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/Try again in \d+ (second|minute)s?\.$/m);
  }
  await waitUntilLive([host]);
  expect(ordersOf(lab.gate, host)).toHaveLength(1);
});

test('a domain that is removed while its certificate is made gets none, and starts anew when it is added again', async () => {
  const host = 'www.fickle.test';
  await add(host);
  const removal = Promise.withResolvers<undefined>();
  lab.gate.setFaults({ match: caPlaces.finalize, held: removal.promise, times: 1 });
  await shop.verify(host);
  await until('it is being made', () => unanswered(lab.gate, caPlaces.finalize).length === 1);
  const { domain } = await shop.remove(host);
  expect(domain.state).toBe('removed');
  removal.resolve(undefined);
  const isOver = async () => (await lab.facts.outcomes(host)).length > 0;
  await until('it came', isOver);
  expect(await lab.facts.outcomes(host)).toEqual(['came too late, destroyed']);
  expect(await lab.facts.privateKeys(host)).toBe(0);
  expect(await lab.facts.states(host)).toEqual(['removed']);
  expect(await visitor.refusal(host)).toBeDefined();

  await add(host);
  await waitUntilLive([host]);
  expect(await lab.facts.states(host)).toEqual(['removed', 'live']);
  expect(ordersOf(lab.gate, host)).toHaveLength(2);
  await until('it is served', async () => (await visitor.refusal(host)) === undefined);
});

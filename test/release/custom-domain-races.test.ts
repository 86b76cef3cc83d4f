import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newChallengeZone, openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive } from '../lab/going-live.ts';
import { finalizesOf, ordersOf } from '../lab/authority/ca-gate.ts';
import { Shop } from '../lab/shop.ts';
import { pointFor, validationMethods } from '../lab/going-live.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { until } from '../support/until.ts';

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
beforeAll(async () => {
  clock = await newFakeClock();
  const settings = { ...clock.settings, ...(await newChallengeZone()) };
  lab = await openDomainLab('mysql', { badNoncePercent: 15 }, settings);
  shop = await lab.openShop('zoo');
  // One after the other, because the second process relies on the first one's edge for its challenges.
  await lab.start();
  await lab.start({ ROLES: 'worker', PORT: String(await findFreePort()) });
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

test('two workers order only one certificate for each of many domains, validated over HTTP or by DNS', async () => {
  // One account may have ten new orders an hour.
  const wanted = validationMethods.flatMap(({ word, method }) =>
    [0, 1, 2].map((n) => ({ host: `www.shop-${n}-${word}.test`, method })),
  );
  const hosts = wanted.map(({ host }) => host);
  await Promise.all(
    wanted.map(async ({ host, method }) => {
      pointFor(lab, method, await shop.add(host));
    }),
  );
  await goLive({ lab, clock }, ...hosts);
  const asked = hosts.map((host) => [
    ordersOf(lab.gate, host).length,
    finalizesOf(lab.gate, host).length,
  ]);
  expect(asked).toEqual(hosts.map(() => [1, 1]));
  const outcomes = () => Promise.all(hosts.map((host) => lab.facts.outcomes(host)));
  await until('all is told', async () => (await outcomes()).every(({ length }) => length > 0));
  expect(await outcomes()).toEqual(hosts.map(() => ['issued']));
});

test('when twenty verify a domain at the same time, one succeeds and one certificate is ordered', async () => {
  const host = 'www.impatient.test';
  await add(host);
  await clock.stop();
  const desks = [1, 2, 3, 4].map((desk) => new Shop(shop, lab.runAt(desk)));
  const rivals = Array.from({ length: 5 }, () => desks).flat();
  const results = await Promise.all(rivals.map((rival) => rival.tell('verify', host)));
  expect(results.filter(({ code }) => code === 0)).toHaveLength(1);
  for (const { code, stdout, stderr } of results.filter((one) => one.code !== 0)) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/Try again in \d+ (second|minute)s?\.$/m);
  }
  await clock.advance(0);
  await goLive({ lab, clock }, host);
  expect(ordersOf(lab.gate, host)).toHaveLength(1);
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { caPlaces, type CaFault } from '../lab/authority/gate-faults.ts';
import { openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive } from '../lab/going-live.ts';
import { finalizesOf, ordersOf, unanswered } from '../lab/authority/gate-log.ts';
import type { Shop } from '../lab/shop.ts';
import type { Service } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

const hang = { hang: true, times: 1 };
/** One domain gets stuck at each of them; with `after` the authority has done what it was asked for. */
const stuck: readonly CaFault[] = [
  { match: caPlaces.newOrder, after: true, ...hang },
  { match: caPlaces.authorization, ...hang },
  { match: caPlaces.challenge, after: true, ...hang },
  { match: caPlaces.finalize, after: true, ...hang },
  { match: caPlaces.certificate, ...hang },
];
const hosts = stuck.map((_, n) => `www.shop-${n}.test`);

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let service: Service;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', {}, clock.settings);
  shop = await lab.openShop('zoo');
  service = await lab.start();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

const untilHanging = async (...places: readonly RegExp[]): Promise<void> => {
  for (const place of places) {
    await until(`one hangs at ${String(place)}`, () => unanswered(lab.gate, place).length > 0);
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

test('killed at every step of an issuance at once, the next process goes on with the same orders, and each order counts', async () => {
  const added = await Promise.all(hosts.map((host) => shop.add(host)));
  lab.zone.create(...added.map(({ records }) => records[0]));
  lab.gate.setFaults(...stuck);
  await clock.advance(120);
  await untilHanging(...stuck.map(({ match }) => match));
  await untilVisited();
  await kill();

  // The order whose answer was lost is requested again, and that answer is lost too. The authority hears of no challenge.
  const { length: before } = unanswered(lab.gate, caPlaces.newOrder);
  await startAgain(
    { match: caPlaces.newOrder, after: true, ...hang },
    { match: caPlaces.challenge, hang: true },
  );
  await until('it hangs again', () => unanswered(lab.gate, caPlaces.newOrder).length > before);
  await kill();

  await startAgain();
  await goLive({ lab, clock }, ...hosts);
  for (const host of hosts) {
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
  }
  expect(unanswered(lab.gate, caPlaces.newOrder)).toHaveLength(before + 1);
});

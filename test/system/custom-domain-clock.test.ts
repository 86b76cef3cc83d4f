import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { ordersOf } from '../lab/authority/gate-log.ts';
import { goLive } from '../lab/going-live.ts';
import { labIssuer } from '../lab/authority/pebble-lab.ts';
import type { SecureVisitor } from '../lab/secure-visitor.ts';
import type { Shop } from '../lab/shop.ts';
import { until } from '../support/until.ts';

const hour = 60 * 60;
const day = 24 * hour;
const host = 'www.time.test';

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let visitor: SecureVisitor;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', {}, clock.settings);
  shop = await lab.openShop('zoo');
  await lab.start();
  visitor = await lab.visitor();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

const goesLive = async (name: string): Promise<void> => {
  const { records } = await shop.add(name);
  lab.zone.create(records[0]);
  await goLive({ lab, clock }, name);
};

/** @returns once another certificate than that one is served */
const isReplaced = (serial: string): Promise<string> =>
  until('another certificate is served', async () => {
    const visit = await visitor.get(host);
    return visit.serial !== serial && visit.serial;
  });

test('when the clock jumps ahead by two months the certificate is renewed at once, and only once', async () => {
  await goesLive(host);
  const { serial } = await visitor.get(host);
  await clock.advance(60 * day);
  await isReplaced(serial);
  // By then the worker has looked for something to do several times.
  await goesLive('www.later.test');
  expect(ordersOf(lab.gate, host)).toHaveLength(2);
  expect((await shop.show(host)).domain).toMatchObject({
    state: 'live',
    certificate: { status: 'issued' },
  });
});

test('while CAA forbids renewal, the owner is told and the site is still served', async () => {
  const { serial } = await visitor.get(host);
  lab.zone.set('time.test', { CAA: [{ tag: 'issue', value: ';' }] });
  await clock.advance(5 * day);
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
  expect((await visitor.get(host)).serial).toBe(serial);

  lab.zone.set('time.test', { CAA: [{ tag: 'issue', value: labIssuer }] });
  await clock.advance(2 * hour);
  await isReplaced(serial);
});

test('when the clock is set back everything keeps working', async () => {
  await clock.advance(-30 * day);
  await goesLive('www.earlier.test');
  expect((await visitor.get(host)).status).toBe(200);
});

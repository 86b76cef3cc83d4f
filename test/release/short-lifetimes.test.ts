import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { ordersOf } from '../lab/authority/ca-gate.ts';
import { goLive } from '../lab/going-live.ts';
import type { Shop } from '../lab/shop.ts';
import type { SecureVisitor } from '../lab/secure-visitor.ts';
import { until, within } from '../support/until.ts';
import { caPlaces } from '../lab/authority/gate-caa.ts';

const host = 'www.short.test';
const day = 24 * 60 * 60;
/** On a busy machine, including the DNS check before it. */
const longestAttemptMs = 10_000;

const pointed = async (lab: DomainLab, shop: Shop): Promise<void> => {
  const { records } = await shop.add(host);
  lab.zone.create(records[0]);
};

/** The first certificate of a host, and its remaining lifetime when visitors got another one. */
interface Renewal {
  readonly leftMs: number;
  readonly profiles: readonly unknown[];
}

const renewalOf = async (lab: DomainLab): Promise<Renewal> => {
  const visitor = await lab.visitor();
  const first = await visitor.get(host);
  const isRenewed = async () => {
    await delay(100);
    const { status, serial } = await visitor.get(host);
    expect(status).toBe(200);
    return serial !== first.serial;
  };
  await until('another certificate is served', isRenewed);
  return {
    leftMs: first.notAfter.getTime() - Date.now(),
    profiles: ordersOf(lab.gate, host).map(({ payload }) => payload),
  };
};

let minutes: DomainLab;
let renewal: Promise<Renewal>;
beforeAll(async () => {
  minutes = await openDomainLab(
    'sqlite',
    { certificateSeconds: 60 },
    { ACME_PROFILE: 'shortlived' },
  );
  minutes.gate.setProfiles('classic', 'shortlived');
  const shop = await minutes.openShop('short');
  await minutes.start();
  await pointed(minutes, shop);
  await shop.verify(host);
  await minutes.waitUntilServed(host);
  renewal = renewalOf(minutes);
  renewal.catch(() => undefined);
});
afterAll(() => minutes.close());

describe('a certificate that is valid for 6 days', () => {
  let clock: FakeClock;
  let lab: DomainLab;
  let shop: Shop;
  let visitor: SecureVisitor;
  beforeAll(async () => {
    clock = await newFakeClock();
    lab = await openDomainLab('sqlite', { certificateSeconds: 6 * day }, clock.settings);
    shop = await lab.openShop('short');
    await lab.start();
    visitor = await lab.visitor();
    await pointed(lab, shop);
    await goLive({ lab, clock }, host);
  });
  afterAll(async () => {
    await lab.close();
    await clock.remove();
  });

  /** Advances the clock to the next step until this many attempts have failed. */
  const failures = async (count: number): Promise<void> => {
    const goOn = async () => {
      const outcomes = await lab.facts.outcomes(host);
      if (outcomes.filter((one) => one === 'failed').length >= count) return true;
      const next = await lab.facts.restUntil([host], clock.now(), ['live']);
      if (next) await clock.advance(Math.ceil((next.getTime() - clock.now().getTime()) / 1000) + 1);
      return false;
    };
    await within(count * longestAttemptMs, `${count} attempts have failed`, goOn).catch(
      async (error: unknown) => {
        throw new Error(await lab.facts.story(host), { cause: error });
      },
    );
  };

  test('is renewed in time even if the authority fails ten times', async () => {
    const { serial, notAfter } = await visitor.get(host);
    lab.gate.setFaults({ match: caPlaces.newOrder, status: 500 });
    // The renewal begins with half of it left, or slightly earlier.
    await clock.advance(2.6 * day);
    await failures(10);
    expect(clock.now() < notAfter).toBe(true);
    expect((await shop.show(host)).problems).toMatchObject([{ code: 'ca_unavailable' }]);
    expect((await visitor.get(host)).serial).toBe(serial);
    lab.gate.setFaults();
    await until('another certificate is served', async () => {
      const next = await lab.facts.restUntil([host], clock.now(), ['live']);
      if (next && next < notAfter)
        await clock.advance(Math.ceil((next.getTime() - clock.now().getTime()) / 1000) + 1);
      return (await visitor.get(host)).serial !== serial;
    });
    expect(clock.now() < notAfter).toBe(true);
  });
});

test('a certificate that is valid for 60 seconds is renewed in time, and every visitor is served meanwhile', async () => {
  const { leftMs, profiles } = await renewal;
  expect(leftMs).toBeGreaterThan(15_000);
  expect(leftMs).toBeLessThan(40_000);
  expect(profiles).toMatchObject([{ profile: 'shortlived' }, { profile: 'shortlived' }]);
});

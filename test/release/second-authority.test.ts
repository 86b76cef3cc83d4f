import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ordersOf, unanswered, type CaGate } from '../lab/authority/ca-gate.ts';
import { labIssuer } from '../lab/authority/pebble-lab.ts';
import { openDomainLab, secondIssuer, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive } from '../lab/going-live.ts';
import type { Shop } from '../lab/shop.ts';
import type { Service } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';
import { type CaFault, caPlaces } from '../lab/authority/gate-caa.ts';

const day = 24 * 60 * 60;

let clock: FakeClock;
let lab: DomainLab;
let second: CaGate;
let shop: Shop;
let service: Service;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', { hasSecond: true }, clock.settings);
  if (!lab.second) throw new Error('there is no second authority');
  second = lab.second.gate;
  shop = await lab.openShop('zoo');
  service = await lab.start();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});
afterEach(() => {
  lab.gate.setFaults();
  second.setFaults();
});

const add = async (host: string, caa: readonly string[] = []): Promise<void> => {
  const { records } = await shop.add(host);
  lab.zone.create(records[0]);
  const CAA = caa.map((value) => ({ tag: 'issue', value }));
  if (caa.length > 0) lab.zone.set(host.replace('www.', ''), { CAA });
};

/** The claims of the dead process last for half a minute. */
const killAndStart = async (...faults: readonly CaFault[]): Promise<void> => {
  await service.end('SIGKILL');
  lab.gate.setFaults(...faults);
  second.setFaults();
  service = await lab.start();
  await clock.advance(30);
};

/** The owner's view of the certificate: its issuer, and the earlier attempts. */
const storyOf = async (host: string) => {
  const { domain, timeline } = await shop.show(host);
  const attempts = timeline.filter(({ kind }) => kind === 'attempt').toReversed();
  const told = attempts.map((one) => one as { outcome?: string; authority?: string });
  return {
    issuedBy: domain.certificate.issuedBy,
    attempts: told.map(({ outcome = '', authority = '' }) => `${outcome} ${authority}`),
  };
};

const nameOf = ({ directoryUrl }: CaGate): string => new URL(directoryUrl).host;

test('while all is well, only the first authority is contacted', async () => {
  await add('www.well.test');
  await goLive({ lab, clock }, 'www.well.test');
  const first = nameOf(lab.gate);
  expect(await storyOf('www.well.test')).toEqual({
    issuedBy: first,
    attempts: [`issued ${first}`],
  });
  expect(second.log).toEqual([]);
});

test('the second authority issues if the first one hangs and then refuses connections, even after a kill', async () => {
  const host = 'www.silent.test';
  lab.gate.setFaults({ match: caPlaces.newOrder, hang: true });
  await add(host);
  await clock.advance(70);
  await until('it hangs', () => unanswered(lab.gate, caPlaces.newOrder).length > 0);
  await killAndStart({ match: /./, reset: true });
  await goLive({ lab, clock }, host);
  const { issuedBy, attempts } = await storyOf(host);
  expect(issuedBy).toBe(nameOf(second));
  expect(attempts[0]).toMatch(/^unanswered /);
  expect(attempts.at(-1)).toBe(`issued ${nameOf(second)}`);
  expect(attempts.filter((one) => one === `failed ${nameOf(lab.gate)}`).length).toBeGreaterThan(0);
});

test('the second authority issues long before the limit of a day at the first one ends', async () => {
  const host = 'www.limited.test';
  const problem = { type: 'rateLimited', detail: 'too many certificates' };
  const headers = { 'retry-after': String(day) };
  lab.gate.setFaults({ match: caPlaces.newOrder, status: 429, problem, headers });
  await add(host);
  const begun = clock.now().getTime();
  await goLive({ lab, clock }, host);
  expect(await storyOf(host)).toEqual({
    issuedBy: nameOf(second),
    attempts: [`failed ${nameOf(lab.gate)}`, `issued ${nameOf(second)}`],
  });
  expect(clock.now().getTime() - begun).toBeLessThan(0.1 * day * 1000);
});

test('the second authority issues at once if CAA allows only it, and after a kill the next process continues its order', async () => {
  const host = 'www.caa.test';
  second.setFaults({ match: caPlaces.finalize, after: true, hang: true });
  await add(host, [secondIssuer]);
  await clock.advance(70);
  await until('it hangs', () => unanswered(second, caPlaces.finalize).length > 0);
  await killAndStart();
  await goLive({ lab, clock }, host);
  expect(await storyOf(host)).toEqual({
    issuedBy: nameOf(second),
    attempts: [`issued ${nameOf(second)}`],
  });
  expect(ordersOf(second, host)).toHaveLength(1);
  expect(ordersOf(lab.gate, host)).toEqual([]);
});

test('no authority is contacted where CAA allows neither, and the owner is notified', async () => {
  const host = 'www.neither.test';
  await add(host, ['else.test']);
  await clock.advance(70);
  const isTold = async () =>
    (await shop.show(host)).problems.some(({ code }) => code === 'caa_forbids_issuer');
  await until('the owner is told', isTold);
  for (const gate of [lab.gate, second]) expect(ordersOf(gate, host)).toEqual([]);
  lab.zone.set('neither.test', { CAA: [{ tag: 'issue', value: labIssuer }] });
  await goLive({ lab, clock }, host);
  expect((await storyOf(host)).issuedBy).toBe(nameOf(lab.gate));
});

test('each authority has its own account and ledger, and doctor checks both', async () => {
  const { stdout } = await lab.run(['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: { check: string; seen: string }[] };
  const seen = checks.filter(({ check }) => check === 'authority').map((one) => one.seen);
  expect(seen).toEqual(
    [lab.gate, second].map(({ directoryUrl }) => `${directoryUrl} answers and knows our account.`),
  );
});

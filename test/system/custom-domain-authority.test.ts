import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { caPlaces, type CaFault } from '../lab/authority/gate-faults.ts';
import { openDomainLab, platformHost, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive, untilSeenTo } from '../lab/going-live.ts';
import { finalizesOf, ordersOf, unanswered } from '../lab/authority/gate-log.ts';
import type { SecureVisitor } from '../lab/secure-visitor.ts';
import type { Shop } from '../lab/shop.ts';
import { until } from '../support/until.ts';

const minute = 60;
const hour = 60 * minute;

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let visitor: SecureVisitor;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', { blocked: ['blocked.test'] }, clock.settings);
  shop = await lab.openShop('zoo');
  await lab.start();
  visitor = await lab.visitor();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});
afterEach(() => {
  lab.gate.setFaults();
});

/** Adds a domain with the right record, and waits until the authority was asked while it has these faults. */
const attempt = async (host: string, ...faults: readonly CaFault[]): Promise<void> => {
  const { records } = await shop.add(host);
  lab.zone.create(records[0]);
  lab.gate.setFaults(...faults);
  const isTried = async () => (await lab.facts.outcomes(host)).length > 0;
  await untilSeenTo('it was tried', { lab, clock }, [host], isTried);
  lab.gate.setFaults();
};

/** The owner sees the problem and the time of the next attempt, so many seconds later; sites are still served. */
const expectSetback = async (host: string, code: string, seconds: number): Promise<void> => {
  const { domain, problems } = await shop.show(host);
  expect(domain).toMatchObject({ state: 'verified', certificate: { problem: { code } } });
  expect(problems.map((problem) => problem.code)).toContain(code);
  const { attempts, nextAttemptAt = '' } = domain.certificate;
  const wait = (Date.parse(nextAttemptAt) - Date.parse(attempts?.lastAt ?? '')) / 1000;
  // What the authority says counts from its answer, a moment before the failure is noted down.
  expect(wait).toBeLessThanOrEqual(seconds);
  expect(wait).toBeGreaterThan(seconds - minute / 2);
  expect(await visitor.refusal(`${shop.slug}.${platformHost}`)).toBeUndefined();
};

interface Checkup {
  readonly checks: readonly { readonly check: string; readonly state: string }[];
}

const failedChecks = async () => {
  const { code, stdout } = await lab.run(['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as Checkup;
  const failures = checks.filter(({ state }) => state === 'failed').map(({ check }) => check);
  return { code, failures };
};

test('doctor reports no problem of a healthy service, and the problems of a broken one', async () => {
  const { code, stdout } = await lab.run(['doctor']);
  expect({ code, failures: stdout.match(/^failed.*/gm) }).toEqual({ code: 0, failures: null });
  expect(stdout).toMatch(/^ok +authority .* knows our account\.$/m);
  expect(stdout.match(/is served by Animal Store\.$/gm)).toHaveLength(3);
  expect(stdout).toMatch(/agrees with that of the certificate authority/);
  expect(stdout).toMatch(/^All checks passed\.$/m);

  lab.gate.setFaults({ match: caPlaces.directory, status: 500 });
  lab.zone.set(`*.${platformHost}`, { A: ['192.0.2.1'] });
  expect(await failedChecks()).toEqual({ code: 1, failures: ['dns', 'authority'] });
  lab.gate.setFaults();
  lab.zone.set(`*.${platformHost}`, { A: ['127.0.0.1'] });
  await clock.advance(hour);
  expect(await failedChecks()).toEqual({ code: 1, failures: ['clock'] });
});

const isLive = async (host: string) => (await lab.facts.states(host)).at(-1) === 'live';

const goesLiveAfter = async (seconds: number, host: string): Promise<void> => {
  await clock.advance(seconds);
  await goLive({ lab, clock }, host);
};

const hanging = 'www.hangs.test';

test('an authority that never answers delays no other domain', async () => {
  const { records } = await shop.add(hanging);
  lab.zone.create(records[0]);
  lab.gate.setFaults({ match: caPlaces.authorization, hang: true, times: 1 });
  const hangs = () => Promise.resolve(unanswered(lab.gate, caPlaces.authorization).length === 1);
  await untilSeenTo('it hangs', { lab, clock }, [hanging], hangs);
  await attempt('www.beside.test');
  expect(await isLive('www.beside.test')).toBe(true);
});

test('a name that the authority refuses waits for its owner', async () => {
  await attempt('www.blocked.test');
  const { domain, problems } = await shop.show('www.blocked.test');
  expect(domain).toMatchObject({ state: 'verified', certificate: { status: 'failed' } });
  expect(domain.certificate.nextAttemptAt).toBeUndefined();
  expect(problems).toMatchObject([{ code: 'ca_rejected_name', severity: 'final' }]);
});

test('a host that only the authority resolves elsewhere is retried with a new order', async () => {
  const host = 'www.elsewhere.test';
  lab.zone.lie(host, { A: ['127.0.0.9'] });
  await attempt(host);
  await expectSetback(host, 'challenge_unreachable', minute);
  lab.zone.lie(host, undefined);
  await goesLiveAfter(minute, host);
  expect(ordersOf(lab.gate, host)).toHaveLength(2);
});

// Before authorities fail in other ways: when it comes back, it must not meet those.
test('a hanging step is given up after half a minute, and retried with the same order', async () => {
  const isGivenUp = async () => (await lab.facts.outcomes(hanging)).length > 0;
  await until('it is given up', isGivenUp, 90_000);
  await clock.advance(minute);
  const isDone = async () => (await lab.facts.outcomes(hanging)).length === 2;
  await until('it is tried again', isDone);
  expect(await lab.facts.outcomes(hanging)).toEqual(['failed', 'issued']);
  expect(ordersOf(lab.gate, hanging)).toHaveLength(1);
});

test.each([
  ['in trouble', 'www.trouble.test', { match: caPlaces.newOrder, status: 500 }],
  ['cut off', 'www.cut.test', { match: caPlaces.newOrder, reset: true }],
  ['full of nonsense', 'www.nonsense.test', { match: caPlaces.order, body: '<html>' }],
])('an authority that is %s is retried after a minute', async (_, host, fault) => {
  await attempt(host, fault);
  await expectSetback(host, 'ca_unavailable', minute);
  await goesLiveAfter(minute, host);
});

test('a Retry-After of the authority is obeyed and shown to the owner', async () => {
  const host = 'www.patient.test';
  // One account may have ten new orders in an hour.
  await clock.advance(hour);
  const headers = { 'retry-after': String(3 * hour) };
  const problem = { type: 'rateLimited', detail: 'too many new orders' };
  const fault = { match: caPlaces.newOrder, status: 429, headers, problem };
  await attempt(host, fault);
  await expectSetback(host, 'ca_rate_limited', 3 * hour);
  const { records } = await shop.add('www.meanwhile.test');
  lab.zone.create(records[0]);
  await goesLiveAfter(2 * hour, 'www.meanwhile.test');
  const told = await shop.tell('verify', host);
  expect(told).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Try again in \d+ minutes/),
  });
  expect(ordersOf(lab.gate, host)).toHaveLength(1);
  await goesLiveAfter(hour, host);
  expect(ordersOf(lab.gate, host)).toHaveLength(2);
});

test.each([
  ['challenge', 'www.lost-challenge.test'],
  ['finalize', 'www.lost-finalize.test'],
  ['certificate', 'www.lost-certificate.test'],
] as const)(
  'an answer lost after %s costs nothing: the same order goes on',
  async (place, host) => {
    const fault = { match: caPlaces[place], after: true, reset: true, times: 1 };
    await attempt(host, fault);
    expect(await isLive(host)).toBe(true);
    expect(ordersOf(lab.gate, host)).toHaveLength(1);
    expect(finalizesOf(lab.gate, host)).toHaveLength(1);
  },
);

test('an order whose answer was lost is requested again after a minute', async () => {
  const host = 'www.lost-order.test';
  const fault = { match: caPlaces.newOrder, after: true, reset: true, times: 1 };
  await attempt(host, fault);
  await expectSetback(host, 'ca_unavailable', minute);
  await goesLiveAfter(minute, host);
  expect(finalizesOf(lab.gate, host)).toHaveLength(1);
});

test('after an authority lost its data, our account is registered again once', async () => {
  const known = lab.gate.asked(caPlaces.newAccount).length;
  await lab.pebble.restart();
  await attempt('www.forgotten.test');
  expect(await isLive('www.forgotten.test')).toBe(true);
  expect(lab.gate.asked(caPlaces.newAccount)).toHaveLength(known + 1);
});

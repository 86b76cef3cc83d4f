import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ValidationMethod } from '../../src/domains/domain/dns/validation.ts';
import { until } from '../support/until.ts';
import { finalizesOf, ordersOf, unanswered } from '../lab/authority/ca-gate.ts';
import {
  type DomainLab,
  newChallengeZone,
  openDomainLab,
  platformHost,
} from '../lab/domain-lab.ts';
import { type FakeClock, newFakeClock } from '../lab/fake-clock.ts';
import type { Shop } from '../lab/shop.ts';
import { goLive, validationMethods, pointFor } from '../lab/going-live.ts';
import { labIssuer } from '../lab/authority/pebble-lab.ts';
import type { SecureVisitor } from '../lab/secure-visitor.ts';
import { type CaFault, caPlaces } from '../lab/authority/gate-caa.ts';

interface Wanted {
  readonly host: string;
  readonly method: ValidationMethod;
  /** The faults of the authority's first orders. */
  readonly fault?: CaFault;
}

interface Place {
  readonly lab: DomainLab;
  readonly clock: FakeClock;
  readonly shop: Shop;
}

interface Attempts {
  /** Adds a domain with the right records and verifies it. */
  readonly add: (wanted: Wanted) => Promise<void>;
  /** Adds domains, and waits until the authority got a request for each while it has these faults. */
  readonly attempt: (...all: readonly Wanted[]) => Promise<void>;
}

const attempts = ({ lab, clock, shop }: Place): Attempts => {
  const add = async ({ host, method }: Wanted): Promise<void> => {
    pointFor(lab, method, await shop.add(host));
    await until(`${host} is verified`, async () => {
      if ((await shop.verify(host)).domain.state !== 'added') return true;
      await clock.advance(11);
      return false;
    });
  };
  return {
    add,
    attempt: async (...all) => {
      lab.gate.setFaults(...all.flatMap(({ host, fault }) => (fault ? [{ ...fault, host }] : [])));
      for (const one of all) await add(one);
      await untilTried(lab, ...all.map(({ host }) => host));
      lab.gate.setFaults();
    },
  };
};

/** Stops the clock, so that none is retried. */
const untilTried = ({ facts }: DomainLab, ...hosts: readonly string[]): Promise<true> => {
  const areTried = async () => {
    const outcomes = await Promise.all(hosts.map((host) => facts.outcomes(host)));
    return outcomes.every(({ length }) => length > 0);
  };
  return until('all are tried', areTried);
};

const minute = 60;
const hour = 60 * minute;

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let visitor: SecureVisitor;
let add: Attempts['add'];
let attempt: Attempts['attempt'];
beforeAll(async () => {
  clock = await newFakeClock();
  const settings = { ...clock.settings, ...(await newChallengeZone()) };
  lab = await openDomainLab('sqlite', { blocked: ['blocked.test'] }, settings);
  shop = await lab.openShop('zoo');
  await lab.start();
  visitor = await lab.visitor();
  ({ add, attempt } = attempts({ lab, clock, shop }));
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});
afterEach(() => {
  lab.gate.setFaults();
});

/**
 * The owner sees the problem and the time of the next attempt, this many seconds later, and sites are still
 * served.
 */
const expectSetback = async (host: string, code: string, seconds: number): Promise<void> => {
  const { domain, problems } = await shop.show(host);
  expect(domain).toMatchObject({ state: 'verified', certificate: { problem: { code } } });
  expect(problems.map((problem) => problem.code)).toContain(code);
  const { attempts, nextAttemptAt = '' } = domain.certificate;
  const wait = (Date.parse(nextAttemptAt) - Date.parse(attempts?.lastAt ?? '')) / 1000;
  // The authority's time counts from its answer, a moment before the failure is stored.
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
  expect(stdout.match(/is served by Animal Store\.$/gm)).toHaveLength(4);
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

const goesLiveAfter = async (seconds: number, ...hosts: readonly string[]): Promise<void> => {
  await clock.advance(seconds);
  await goLive({ lab, clock }, ...hosts);
};

/** One account may have ten new orders an hour. */
const anHourLater = (): Promise<void> => clock.advance(hour);

const hanging = validationMethods.map(({ word, method }) => {
  const fault = { match: caPlaces.authorization, hang: true, times: 1 };
  return { host: `www.hangs-${word}.test`, method, fault };
});

test('an authority that never answers does not delay other domains', async () => {
  lab.gate.setFaults(...hanging.map(({ host, fault }) => ({ ...fault, host })));
  for (const one of hanging) await add(one);
  const hang = () => unanswered(lab.gate, caPlaces.authorization).length === hanging.length;
  await until('they hang', hang);
  await attempt({ host: 'www.beside.test', method: 'http-01' });
  expect(await isLive('www.beside.test')).toBe(true);
});

test('a name that the authority refuses waits for its owner', async () => {
  await attempt({ host: 'www.blocked.test', method: 'http-01' });
  const { domain, problems } = await shop.show('www.blocked.test');
  expect(domain).toMatchObject({ state: 'verified', certificate: { status: 'failed' } });
  expect(domain.certificate.nextAttemptAt).toBeUndefined();
  expect(problems).toMatchObject([{ code: 'ca_rejected_name', severity: 'final' }]);
});

test('an order that the authority is still working on is checked again', async () => {
  const urls = { authorizations: [], finalize: lab.gate.directoryUrl };
  const body = JSON.stringify({ status: 'processing', ...urls });
  const fault = { match: caPlaces.order, body, times: 1 };
  await attempt({ host: 'www.slow.test', method: 'http-01', fault });
  expect(await isLive('www.slow.test')).toBe(true);
});

describe('after a minute, the service retries an order at', () => {
  const cases: readonly { is: string; host: string; fault: CaFault }[] = [
    {
      ...{ is: 'failing', host: 'www.trouble.test' },
      fault: { match: caPlaces.newOrder, status: 500 },
    },
    { is: 'cut off', host: 'www.cut.test', fault: { match: caPlaces.newOrder, reset: true } },
    {
      ...{ is: 'returning nonsense', host: 'www.nonsense.test' },
      fault: { match: caPlaces.order, body: '<html>' },
    },
  ];
  const hosts = cases.map(({ host }) => host);
  beforeAll(() =>
    attempt(...cases.map(({ host, fault }) => ({ host, method: 'http-01' as const, fault }))),
  );

  test.each(cases)('an authority that is $is', ({ host }) =>
    expectSetback(host, 'ca_unavailable', minute),
  );

  test('the authority, and then every domain goes live', () => goesLiveAfter(minute, ...hosts));
});

test('a Retry-After of the authority is obeyed and shown to the owner', async () => {
  const host = 'www.patient.test';
  await anHourLater();
  const headers = { 'retry-after': String(3 * hour) };
  const problem = { type: 'rateLimited', detail: 'too many new orders' };
  const fault = { match: caPlaces.newOrder, status: 429, headers, problem };
  await attempt({ host, method: 'http-01', fault });
  await expectSetback(host, 'ca_rate_limited', 3 * hour);
  await add({ host: 'www.meanwhile.test', method: 'http-01' });
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

describe.each(validationMethods)('validated $way,', ({ word, method }) => {
  const named = (name: string) => `www.${name}-${word}.test`;
  const lost = { after: true, reset: true, times: 1 };
  const places = ['challenge', 'finalize', 'certificate'] as const;
  const lostOrder = named('lost-order');
  const hidden = named('hidden');
  const [place, lie] =
    method === 'dns-01' ? [`_acme-challenge.${hidden}`, {}] : [hidden, { A: ['127.0.0.9'] }];

  beforeAll(async () => {
    await anHourLater();
    // Otherwise the next order would use the other method.
    const value = `${labIssuer}; validationmethods=${method}`;
    lab.zone.set(hidden.replace('www.', ''), { CAA: [{ tag: 'issue', value }] });
    lab.zone.lie(place, lie);
    await attempt(
      ...places.map((one) => ({
        ...{ host: named(`lost-${one}`), method },
        fault: { match: caPlaces[one], ...lost },
      })),
      { host: lostOrder, method, fault: { match: caPlaces.newOrder, ...lost } },
      { host: hidden, method },
    );
  });

  test.each(places)(
    'an order whose answer to %s is lost continues without another order',
    async (one) => {
      const host = named(`lost-${one}`);
      expect(await isLive(host)).toBe(true);
      expect(ordersOf(lab.gate, host)).toHaveLength(1);
      expect(finalizesOf(lab.gate, host)).toHaveLength(1);
    },
  );

  test('an order whose answer was lost, or whose challenge was not found, is requested again after a minute', async () => {
    await expectSetback(lostOrder, 'ca_unavailable', minute);
    await expectSetback(hidden, 'challenge_unreachable', minute);
    lab.zone.lie(place, undefined);
    await goesLiveAfter(minute, lostOrder, hidden);
    expect(finalizesOf(lab.gate, lostOrder)).toHaveLength(1);
    expect(ordersOf(lab.gate, hidden)).toHaveLength(2);
  });
});

test('a step that hangs is abandoned after half a minute, and retried with the same order', async () => {
  await untilTried(lab, ...hanging.map(({ host }) => host));
  await goesLiveAfter(minute, ...hanging.map(({ host }) => host));
  for (const { host } of hanging) {
    expect(await lab.facts.outcomes(host)).toEqual(['failed', 'issued']);
    expect(ordersOf(lab.gate, host)).toHaveLength(1);
  }
});

test('our account is registered again once after an authority lost its data', async () => {
  const known = lab.gate.asked(caPlaces.newAccount).length;
  await anHourLater();
  await lab.pebble.restart();
  await attempt({ host: 'www.forgotten.test', method: 'http-01' });
  expect(await isLive('www.forgotten.test')).toBe(true);
  expect(lab.gate.asked(caPlaces.newAccount)).toHaveLength(known + 1);
});

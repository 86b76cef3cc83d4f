import { expect, test } from '@jest/globals';
import { Unavailable } from '../../../src/kernel/unavailable.ts';
import { pino } from 'pino';
import { SettableClock } from '../../support/settable-clock.ts';
import { DueDomains, type DuePorts } from '../../../src/adapters/schedule/due-domains.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { HeldDomain } from '../../../src/domains/custom-domain-ports.ts';
import { added, after, live, verified } from '../../support/domains/known-domains.ts';
import { until } from '../../support/until.ts';

/** Then the certificate of `verified` is due. */
const now = after(60_000);

/** A store that returns these domains at each claim, with the calls that it got. */
const storeOf = (...due: readonly CustomDomain[]) => {
  const prolonged: [ids: readonly string[], until: Date][] = [];
  const released: string[] = [];
  const claims: string[] = [];
  const latest = () => claims.at(-1) ?? '';
  const mustBeHeld = (held: readonly HeldDomain[]) => {
    for (const { claim } of held) expect(claim).toBe(latest());
  };
  const domains: DuePorts['domains'] = {
    nextDueAt: () => Promise.resolve(new Date(0)),
    claimDue: () => {
      claims.push(`claim_${claims.length}`);
      return Promise.resolve({ claim: latest(), domains: due });
    },
    prolong: (held, leaseUntil) => {
      mustBeHeld(held);
      prolonged.push([held.map(({ id }) => id), leaseUntil]);
      return Promise.resolve();
    },
    release: (held) => {
      mustBeHeld([held]);
      released.push(held.id);
      return Promise.resolve();
    },
  };
  return { domains, prolonged, released };
};

const dueDomains = (domains: DuePorts['domains'], tend: DuePorts['tend'], leaseMs?: number) => {
  const [clock, log] = [new SettableClock(now), pino({ level: 'silent' })];
  return new DueDomains({ domains, tend, clock, log }, leaseMs);
};

test('a domain in progress is not started again, even when its lease is over', async () => {
  const { domains, released } = storeOf(added);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const begun: string[] = [];
  const due = dueDomains(domains, async ({ id }) => {
    begun.push(id);
    await promise;
  });
  for (let run = 0; run < 3; run++) await due.run();
  expect([begun, released]).toEqual([[added.id], []]);
  resolve(undefined);
  await due.stop();
  expect(released).toEqual([added.id]);
});

test('a worker renews its claim on a domain for as long as it works on it', async () => {
  const { domains, prolonged } = storeOf(added);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const due = dueDomains(domains, () => promise.then(() => undefined), 30);
  await due.run();
  await until('it was held on to for longer than a lease', () => prolonged.length >= 4);
  const seen = [[added.id], after(60_030)];
  expect(prolonged).toEqual(prolonged.map(() => seen));
  resolve(undefined);
  await due.stop();
});

test('a domain that fails for an unknown reason is retried after a pause', async () => {
  const { domains, prolonged, released } = storeOf(added);
  const due = dueDomains(domains, () => Promise.reject(new Error('a fault of ours')));
  await due.run();
  await due.stop();
  expect([prolonged, released]).toEqual([[[[added.id], after(6 * 60_000)]], []]);
});

test('a domain whose storage was briefly unavailable is retried at the next poll', async () => {
  const { domains, prolonged, released } = storeOf(added);
  const away = new Unavailable('The database', new Error('gone'));
  const due = dueDomains(domains, () => Promise.reject(away));
  await due.run();
  await due.stop();
  expect([prolonged, released]).toEqual([[], [added.id]]);
});

test('a stopping worker releases the domains that it has not started', async () => {
  const all = Array.from({ length: 150 }, (_, n) => ({ ...added, id: `dom_${n}` }));
  const { domains, released } = storeOf(...all);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let begun = 0;
  const due = dueDomains(domains, () => {
    begun += 1;
    return promise.then(() => undefined);
  });
  await due.run();
  const stopping = due.stop();
  resolve(undefined);
  await stopping;
  expect(begun).toBeLessThan(all.length);
  expect(released.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
});

test('checks and orders have separate limits', async () => {
  const checks = Array.from({ length: 110 }, (_, n) => ({ ...added, id: `dom_check_${n}` }));
  const orders = Array.from({ length: 30 }, (_, n) => ({ ...verified, id: `dom_order_${n}` }));
  const { domains } = storeOf(...checks, ...orders);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const begun: string[] = [];
  const due = dueDomains(domains, ({ state }) => {
    begun.push(state);
    return promise.then(() => undefined);
  });
  await due.run();
  await until('all that has room is begun', () => begun.length >= 120);
  expect(begun.filter((state) => state === 'verified')).toHaveLength(20);
  expect(begun).toHaveLength(120);
  resolve(undefined);
  await due.stop();
});

test('checks of live domains, which are hourly, leave the places of orders to orders', async () => {
  const checks = Array.from({ length: 60 }, (_, n) => ({ ...live, id: `dom_check_${n}` }));
  const orders = Array.from({ length: 20 }, (_, n) => ({ ...verified, id: `dom_order_${n}` }));
  const { domains } = storeOf(...checks, ...orders);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const begun: string[] = [];
  const due = dueDomains(domains, ({ state }) => {
    begun.push(state);
    return promise.then(() => undefined);
  });
  await due.run();
  await until('all are begun', () => begun.length === checks.length + orders.length);
  resolve(undefined);
  await due.stop();
});

test('a hanging domain delays no other', async () => {
  const others = Array.from({ length: 60 }, (_, n) => ({ ...verified, id: `dom_${n + 2}` }));
  const { domains, released } = storeOf(verified, ...others);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const due = dueDomains(domains, ({ id }) =>
    id === verified.id ? promise.then(() => undefined) : Promise.resolve(),
  );
  await due.run();
  await until('the others are done', () => released.length === others.length);
  expect(released).not.toContain(verified.id);
  resolve(undefined);
  await due.stop();
  expect(released).toContain(verified.id);
});

test('the end of work on a domain rings, and a run tells when the next one is due', async () => {
  const { domains } = storeOf(added);
  const times = [now, after(90_000)];
  domains.nextDueAt = () => Promise.resolve(times.shift());
  const due = dueDomains(domains, () => Promise.resolve());
  const rung: string[] = [];
  due.news.listen((when) => rung.push(when));
  expect(await due.run()).toEqual(after(90_000));
  await due.stop();
  expect(rung).toEqual(['soon']);
});

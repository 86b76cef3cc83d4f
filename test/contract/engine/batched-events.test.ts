import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../src/kernel/ports.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { later, now } from '../../support/accounts.ts';
import { newDomain, servedProject, verify } from '../../support/domains/custom-domains.ts';
import { holdStopwatch } from '../../support/held-timeouts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { openStores, type Stores } from '../../support/stores.ts';

const rivals: readonly Actor[] = ['person:mia@shop.example', 'key:key_1', 'operator'];

// Only SQLite batches transactions.
let stores: Stores;
let signals = 0;
let project: Project;
beforeAll(async () => {
  stores = await openStores('sqlite', {
    onStored: () => {
      signals += 1;
    },
  });
  project = await servedProject(stores);
});
afterAll(() => stores.close());
beforeEach(() => {
  signals = 0;
  // However slow the machine is, writes of one turn are stored together.
  holdStopwatch();
});
afterEach(() => {
  jest.useRealTimers();
});

/**
 * Each caller verifies a separate domain, except callers that refuse.
 * @param beside what another caller does meanwhile
 * @returns the domain of each caller
 */
const verifyAll = async (
  refusing: readonly Actor[] = [],
  beside: () => Promise<unknown> = () => Promise.resolve(),
) => {
  const domains = new Map<string, Actor>();
  for (const actor of rivals) domains.set((await newDomain(stores, project)).id, actor);
  signals = 0;
  const ids = [...domains.keys()];
  const verifying = race(rivals.length, (n) => {
    const actor = rivals[n]!;
    const decide = refusing.includes(actor) ? refuse : verify;
    return stores.acting.run(actor, () => stores.domains.change(ids[n]!, decide));
  });
  const [{ lost }] = await Promise.all([verifying, beside()]);
  expect(lost).toEqual(refusing.map(() => String(refusal)));
  return domains;
};

/** Who verified each domain, according to the events. */
const verifiers = async (): Promise<ReadonlyMap<unknown, Actor>> => {
  const deliveries = await stores.outbox.claim(now, later(1000), { limit: 1000 });
  await stores.outbox.done(deliveries);
  return new Map(
    deliveries.map(({ stored: { event, actor } }) => {
      expect(event.type).toBe('domain_verified');
      return [(event as { domainId?: unknown }).domainId, actor];
    }),
  );
};

test('events that are stored together keep their own actors', async () => {
  const domains = await verifyAll();
  expect(signals).toBe(1);
  expect(await verifiers()).toEqual(domains);
});

test('events that are stored together keep their own actors even when one of them fails', async () => {
  const domains = await verifyAll(rivals.slice(1, 2));
  expect(signals).toBe(1);
  const others = [...domains].filter(([, actor]) => actor !== rivals[1]);
  expect(await verifiers()).toEqual(new Map(others));
});

test('an event that is stored while others wait keeps its own actor', async () => {
  const { id } = await newDomain(stores, project);
  const domains = await verifyAll([], () =>
    stores.acting.run('key:key_2', () => stores.domains.change(id, verify)),
  );
  expect(await verifiers()).toEqual(new Map([[id, 'key:key_2'], ...domains]));
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { databaseKinds, type DatabaseKind } from '../support/servers/databases.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { complaintsOf } from '../support/service/service-log.ts';
import {
  newHome,
  printedKey,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';

let home: Home;
let facts: StoredFacts;
const useHome = (kind: DatabaseKind) => {
  beforeEach(async () => {
    home = await newHome(kind);
    facts = new StoredFacts(home.settings['DATABASE_URL'] ?? '');
  });
  afterEach(async () => {
    await facts.close();
    await home.remove();
  });
};

/** Ten at a time: many more would wait for a connection longer than the service lets them. */
const addPets = async ({ origin }: Service, key: string, count: number): Promise<void> => {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = '{"name":"Rex","categoryId":1}';
  const add = () => fetch(`${origin}/v1/pets`, { method: 'POST', headers, body });
  for (let added = 0; added < count; added += 10) {
    const some = Array.from({ length: Math.min(10, count - added) }, add);
    for (const { status } of await Promise.all(some)) expect(status).toBe(201);
  }
};

type State = 'waiting' | 'parked';

/** The metric is left out of an answer for which the database was late. */
const untilCounted = async (
  { origin }: Service,
  state: State,
  deliveries: number,
): Promise<void> => {
  await until(`${deliveries} deliveries are ${state}`, async () => {
    const text = await (await fetch(`${origin}/metrics`)).text();
    return text.split('\n').includes(`outbox_deliveries{state="${state}"} ${deliveries}`);
  });
};

/** Unfinished deliveries come again when their lease ends, a minute later. */
const untilAllDelivered = () =>
  until('all is delivered', async () => (await facts.count('deliveries')) === 0, 90_000);

const everyPetOnce = async (): Promise<void> => {
  const told = (await facts.audited('pet_added')).map(({ petId }) => Number(petId));
  expect(told.toSorted((a, b) => a - b)).toEqual((await facts.pets()).map(({ id }) => id));
};

describe.each(databaseKinds)('events on %s', (kind) => {
  useHome(kind);

  test('survive the process that stored them, and reach their subscriber once through several workers', async () => {
    const api = await home.start({ ROLES: 'api' });
    await addPets(api, printedKey(api), 150);
    await untilCounted(api, 'waiting', 154);
    await api.end('SIGKILL');
    expect(await facts.count('audit_log')).toBe(0);

    const ports = [await findFreePort(), await findFreePort()];
    const workers = await Promise.all(
      ports.map((port) => home.start({ ROLES: 'worker', PORT: String(port) })),
    );
    await untilAllDelivered();
    // The account, its key, person and sign-in link, and the animals.
    expect(await facts.count('audit_log')).toBe(154);
    await everyPetOnce();
    for (const worker of workers) {
      expect((await fetch(`${worker.origin}/v1/pets`)).status).toBe(404);
      expect(await worker.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(complaintsOf(worker)).toEqual([]);
    }
  });
});

describe('events', () => {
  useHome('sqlite');

  test('whose subscriber fails are retried, hold up no request, and arrive when it works again', async () => {
    const service = await home.start();
    const key = printedKey(service);
    await untilAllDelivered();
    await facts.hideAuditLog();
    await addPets(service, key, 5);
    await until('each was tried', async () => (await facts.failing()) === 5);
    await untilCounted(service, 'waiting', 5);
    await facts.showAuditLog();
    await addPets(service, key, 1);
    await untilAllDelivered();
    await everyPetOnce();
    await service.end('SIGTERM');
    expect(service.stdout()).toContain('event not delivered, will be retried');
  });

  test('whose subscriber fails for the tenth time are parked, counted and reported, and stay', async () => {
    const api = await home.start({ ROLES: 'api' });
    await addPets(api, printedKey(api), 1);
    await api.end('SIGTERM');
    await facts.hideAuditLog();
    await facts.setAttempts(9n);
    const worker = await home.start({ ROLES: 'worker' });
    await untilCounted(worker, 'parked', 5);
    await untilCounted(worker, 'waiting', 0);
    await facts.showAuditLog();
    await worker.end('SIGTERM');
    expect(worker.stdout()).toContain('event parked: its subscriber keeps failing');
    expect([await facts.count('deliveries'), await facts.count('audit_log')]).toEqual([5, 0]);
  });
});

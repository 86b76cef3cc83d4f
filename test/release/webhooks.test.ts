import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { seededRandom } from '../support/seeded-random.ts';
import { databaseKinds } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { newHome } from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';
import { idOf, isSignedWith, Receivers } from '../support/webhooks/receivers.ts';
import { StoredWebhooks } from '../support/webhooks/stored-webhooks.ts';

const seed = Number(process.env['CRASH_SEED'] ?? randomInt(1_000_000));
const events = 100;
const secretKey = 'f3kq0v7m2xw9t4c6b1n5hj8rd0gy3s8z';

describe.each(databaseKinds)(`webhooks and notices on %s (CRASH_SEED=${seed})`, (kind) => {
  let receivers: Receivers;
  beforeAll(async () => {
    receivers = await Receivers.open();
  });
  afterAll(() => receivers.close());

  test('deliver every message once, signed and with its own id, however often the workers that send them are killed', async () => {
    const random = seededRandom(seed);
    const home = await newHome(await migratedDatabase(kind));
    const url = home.settings['DATABASE_URL'] ?? '';
    const settings = { SECRET_KEY: secretKey, ALLOW_TEST_DOMAINS: '1' };
    const [facts, webhooks] = [new StoredFacts(url), new StoredWebhooks(url, secretKey)];
    const owner = ['--name', 'Zoo', '--email', 'owner@zoo.example', '--plan', 'pro'];
    expect(await home.run(['account', 'create', ...owner])).toMatchObject({ code: 0 });
    // Two receivers answer at once, and one is slow and sometimes fails.
    receivers.answer = ({ at }, response) => {
      const status = at === receivers.urlOf(3) && random() < 0.2 ? 500 : 204;
      setTimeout(() => response.writeHead(status).end(), random() * 20);
    };
    const secrets = new Map<string, string>();
    for (const number of [1, 2, 3]) {
      const address = receivers.urlOf(number);
      secrets.set(address, (await webhooks.add(address, 'quota.reached')).secret);
    }
    const about = { used: 10, limit: 10, resetsAt: '2026-03-02T00:00:00.000Z' };
    await facts.happen('quota_reached', events, about, 'webhooks', 'notices');
    for (let kills = 0; kills < 2; kills += 1) {
      const before = receivers.received.length;
      const worker = await home.start({ ...settings, ROLES: 'worker' });
      await until('it sends', () => receivers.received.length > before);
      await delay(random() * 40);
      await worker.end('SIGKILL');
      await facts.endLeases();
      await webhooks.endLeases();
    }
    const worker = await home.start({ ...settings, ROLES: 'worker' });
    await until('all are delivered', async () => {
      await webhooks.endWaits();
      const { waiting } = await facts.undelivered();
      return waiting === 0 && (await webhooks.states())['delivered'] === 3 * events;
    });
    await worker.end('SIGTERM');
    expect(await facts.undelivered()).toEqual({ waiting: 0, parked: 0 });
    const told = await facts.notices();
    expect([told.length, new Set(told).size]).toEqual([events, events]);
    for (const [address, secret] of secrets) {
      const received = receivers.received.filter(({ at }) => at === address);
      expect(new Set(received.map(idOf)).size).toBe(events);
      expect(received.filter((one) => !isSignedWith(secret, one))).toEqual([]);
    }
    await webhooks.close();
    await facts.close();
    await home.remove();
  });
});

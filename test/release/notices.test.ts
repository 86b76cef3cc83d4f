import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { databaseKinds } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { newHome } from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';

const seed = Number(process.env['CRASH_SEED'] ?? randomInt(1_000_000));
const events = 200;

describe.each(databaseKinds)(`notices on %s (CRASH_SEED=${seed})`, (kind) => {
  test('are added once each, however often the workers that add them are killed', async () => {
    const random = seededRandom(seed);
    const home = await newHome(await migratedDatabase(kind));
    const facts = new StoredFacts(home.settings['DATABASE_URL'] ?? '');
    const first = await home.start({ ROLES: 'api' });
    await first.end('SIGTERM');
    await facts.happen(
      'quota_reached',
      events,
      { used: 10, limit: 10, resetsAt: '2026-03-02' },
      'notices',
    );
    for (let kills = 0; kills < 3; kills += 1) {
      const worker = await home.start({ ROLES: 'worker' });
      await until('it has begun', async () => (await facts.notices()).length > 0);
      await delay(random() * 40);
      await worker.end('SIGKILL');
      await facts.endLeases();
    }
    const worker = await home.start({ ROLES: 'worker' });
    await until('all are told', async () => (await facts.undelivered()).waiting === 0);
    expect(await facts.undelivered()).toEqual({ waiting: 0, parked: 0 });
    await worker.end('SIGTERM');
    const told = await facts.notices();
    expect([told.length, new Set(told).size]).toEqual([events, events]);
    await facts.close();
    await home.remove();
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { databaseKinds } from '../support/databases.ts';
import { PersistentWriter } from '../support/persistent-writer.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { liftLimits, newHome, printedKey, type Home } from '../support/service-process.ts';
import { StoredFacts } from '../support/stored-facts.ts';
import { until } from '../support/until.ts';

const seed = Number(process.env['CRASH_SEED'] ?? randomInt(1_000_000));
const rounds = 5;
const writersPerRound = 8;

describe.each(databaseKinds)(`killed at any moment on %s (CRASH_SEED=${seed})`, (kind) => {
  let home: Home;
  let facts: StoredFacts;
  beforeEach(async () => {
    home = await newHome(kind);
    facts = new StoredFacts(home.settings['DATABASE_URL'] ?? '');
  });
  afterEach(async () => {
    await facts.close();
    await home.remove();
  });

  test('the service loses nothing that it acknowledged, stores nothing twice and tells of everything once', async () => {
    const random = seededRandom(seed);
    let service = await home.start();
    const key = printedKey(service);
    await liftLimits(home, service);
    const writers = Array.from(
      { length: writersPerRound },
      (_, at) => new PersistentWriter(`w${at}`, key),
    );
    let interrupted = 0;
    for (let round = 0; round < rounds; round++) {
      const { origin } = service;
      const writing = Promise.all(writers.map((writer) => writer.write(origin, () => false)));
      await until('writing is under way', () =>
        writers.every((writer) => writer.acknowledged.length > round),
      );
      await delay(random() * 300);
      await service.end('SIGKILL');
      await writing;
      interrupted += writers.filter((writer) => writer.isInDoubt).length;
      service = await home.start();
    }
    await Promise.all(writers.map((writer) => writer.settle(service.origin)));
    expect(interrupted).toBeGreaterThan(0);
    // 409: the database has not noticed yet that the dead process will never answer. 503: it was late.
    const statuses = new Set(writers.flatMap((writer) => writer.statuses));
    expect([...statuses].filter((status) => ![0, 201, 409, 503].includes(status))).toEqual([]);

    // The dead processes' deliveries become due, and a new process carries out what they left.
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await facts.endLeases();
    await home.start();
    // What is claimed and cannot be finished comes again when its lease ends, a minute later.
    await until('all are delivered', async () => (await facts.count('deliveries')) === 0, 90_000);

    const acknowledged = writers.flatMap((writer) => writer.acknowledged);
    const byId = (a: { id: number }, b: { id: number }) => a.id - b.id;
    const stored = await facts.pets();
    expect(stored).toEqual(acknowledged.toSorted(byId));
    expect(new Set(stored.map(({ name }) => name)).size).toBe(stored.length);
    const told = await facts.audited('pet_added');
    expect(told.map(({ petId }) => Number(petId)).toSorted((a, b) => a - b)).toEqual(
      stored.map(({ id }) => id),
    );
  });
});

describe.each(databaseKinds)(`killed during its first start on %s (CRASH_SEED=${seed})`, (kind) => {
  test.each([1, 2])(
    'the service starts the next time as if nothing had been (%i)',
    async (round) => {
      const random = seededRandom(seed + round);
      const home = await newHome(kind);
      const url = home.settings['DATABASE_URL'] ?? '';
      const log = `${url.replace('sqlite:', '')}-wal`;
      const facts = kind === 'mysql' ? new StoredFacts(url) : undefined;
      const service = home.begin();
      await until('the schema is being made', async () =>
        facts
          ? (await facts.tables()) > 1
          : Boolean(statSync(log, { throwIfNoEntry: false })?.size),
      );
      await delay(random() * (kind === 'mysql' ? 80 : 10));
      await service.end('SIGKILL');
      await facts?.close();
      const next = await home.start();
      await until('it is ready', async () => (await fetch(`${next.origin}/readyz`)).ok);
      await home.remove();
    },
  );
});

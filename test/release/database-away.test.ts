import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDatabase, startMariaDb, type MariaDb } from '../support/servers/mariadb.ts';
import {
  liftLimits,
  newHome,
  printedKey,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import { SteadyLoad } from '../support/service/steady-load.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';

/** The shortest wait for the database is 2 s. */
const withoutWaitingMs = 1000;

describe('while the database is away', () => {
  let server: MariaDb;
  let home: Home;
  let service: Service;
  let facts: StoredFacts;
  let key: string;
  beforeAll(async () => {
    server = await startMariaDb();
    home = await newHome(await createDatabase(server.url));
    facts = new StoredFacts(home.settings['DATABASE_URL'] ?? '');
    service = await home.start();
    key = printedKey(service);
    await liftLimits(home, service);
  });
  afterAll(async () => {
    await facts.close();
    await home.remove();
    await server.stop();
  });

  const get = async (path: string, secret: string | null = key) => {
    const started = performance.now();
    const headers = secret === null ? {} : { Authorization: `Bearer ${secret}` };
    const answer = await fetch(service.origin + path, { headers });
    await answer.arrayBuffer();
    return { status: answer.status, tookMs: performance.now() - started };
  };

  const expectAlive = async (): Promise<void> => {
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    // Looked up, such a key would get 503.
    for (const secret of [mistyped, null]) expect((await get('/v1/pets', secret)).status).toBe(401);
    for (const path of ['/healthz', '/v1/openapi.json']) {
      // On a busy machine any single answer may be late.
      await until(`${path} is answered without the database`, async () => {
        const { status, tookMs } = await get(path, null);
        expect({ path, status }).toEqual({ path, status: 200 });
        return tookMs < withoutWaitingMs;
      });
    }
  };

  const scenes = {
    frozen: { away: () => server.freeze(), back: () => server.thaw() },
    'shut down': { away: () => server.shutDown(), back: () => server.restart() },
  };

  /**
   * Runs `load` while the server goes away as in a scene and comes back. It stays away until all have their answers:
   * no deadline here, however generous, would be met by a request that waits for the server.
   */
  const play = async (scene: keyof typeof scenes, load: SteadyLoad): Promise<void> => {
    const { away, back } = scenes[scene];
    await away();
    const gone = performance.now();
    try {
      await expectAlive();
      expect((await get('/readyz')).status).toBe(503);
      await until('who asked before has an answer', () => load.openSince(gone) === 0);
      await until('who asks now gets 503', () => load.allSaw([503], gone));
      await expectAlive();
    } finally {
      await back();
    }
  };

  // Killed: test/release/faults.test.ts.
  test.each(['frozen', 'shut down'] as const)(
    '(%s) clients get 503 without a long wait, the service recovers automatically, and nothing is lost',
    async (scene) => {
      const load = new SteadyLoad(service.origin, key, scene);
      const start = performance.now();
      load.start();
      try {
        await until('the load runs', () => load.allSaw([200, 201], start));
        await play(scene, load);
        const returned = performance.now();
        const recovered = () => load.allSaw([200, 201], returned);
        await until('every kind of request succeeds again', recovered);
        await until('it is ready', async () => (await get('/readyz')).status === 200);
      } finally {
        await load.stop();
      }

      // 409: the first attempt under an idempotency key has not ended yet in the database.
      const expected = [200, 201, 409, 503];
      expect(load.observed.filter(({ status }) => !expected.includes(status))).toEqual([]);
      const unavailable = load.observed.filter(({ status }) => status === 503);
      expect(new Set(unavailable.map(({ code }) => code))).toEqual(
        new Set(['service_unavailable']),
      );
      expect(unavailable.filter(({ retryAfter }) => !/^[1-9]\d*$/.test(retryAfter ?? ''))).toEqual(
        [],
      );

      const stored = (await facts.pets()).filter(({ name }) => name.startsWith(scene));
      const kept = new Map(stored.map(({ id, name }) => [name, id]));
      expect(load.acknowledged.filter(({ id, name }) => kept.get(name) !== id)).toEqual([]);
      expect(kept.size).toBe(stored.length);
    },
  );

  test('a flood of requests gets 503 and no other answer, and leaves no trace afterwards', async () => {
    await server.freeze();
    const flood = Array.from({ length: 1200 }, () => get('/v1/pets'));
    // It stands still until the last of them is answered.
    const answers = await Promise.all(flood).finally(() => server.thaw());
    const counted = Map.groupBy(answers, ({ status }) => status);
    expect([...counted.keys()]).toEqual([503]);
    await until('it answers again', async () => (await get('/v1/pets')).status === 200);
  });

  test('no answer was a 500, and the log has each outage once and no secret', async () => {
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
    const entries = service
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(entries.filter((line) => /"level":50|"status":500/.test(line)).slice(0, 5)).toEqual([]);
    expect(entries.filter((line) => line.includes(key))).toEqual([]);
    // Two that follow each other closely are one.
    const outages = entries.filter((line) => line.includes('"database away'));
    expect(outages.length).toBeGreaterThan(0);
    expect(outages.length).toBeLessThanOrEqual(3);
    expect(entries.filter((line) => line.includes('request refused'))).toEqual([]);
    expect(service.stderr()).toBe('');
  });
});

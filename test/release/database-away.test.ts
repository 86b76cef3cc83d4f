import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  PersistentWriter,
  type Acknowledged,
  type Send,
} from '../support/service/persistent-writer.ts';
import { createDatabase, startMariaDb, type MariaDb } from '../support/servers/mariadb.ts';
import {
  liftLimits,
  newHome,
  printedKey,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';

interface Observed {
  readonly what: string;
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter: string | null;
  readonly tookMs: number;
  readonly at: number;
}

/** Only against hanging, not a measurement: machines are busy. */
const longestWaitMs = 60_000;

/** Readers and writers that never pause while requests succeed, and their answers. */
class SteadyLoad {
  readonly observed: Observed[] = [];
  /** Writes answered 201, with and without an idempotency key. */
  readonly acknowledged: Acknowledged[] = [];
  readonly #origin: string;
  readonly #key: string;
  readonly #label: string;
  readonly #open = new Set<{ readonly since: number }>();
  #stopping = false;
  #loops: Promise<void>[] = [];

  constructor(origin: string, key: string, label: string) {
    this.#origin = origin;
    this.#key = key;
    this.#label = label;
  }

  start(): void {
    const persistent = [1, 2, 3].map((at) => this.#persist(`${this.#label}-keyed-${at}`));
    const plain = [1, 2].map((at) => this.#write(`${this.#label}-plain-${at}`));
    this.#loops = [
      ...persistent,
      ...plain,
      this.#read('/v1/pets?limit=2'),
      this.#read('/v1/store/orders'),
    ];
  }

  /** Ends once every request is answered and no write is in doubt. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#loops);
  }

  /** The number of requests from before `moment` without an answer. */
  openSince(moment: number): number {
    return [...this.#open].filter(({ since }) => since < moment).length;
  }

  /** Whether each loop got one of `statuses` for a request that it sent after `moment`. */
  allSaw(statuses: readonly number[], moment: number): boolean {
    const seen = this.observed
      .filter(({ at, tookMs, status }) => at - tookMs > moment && statuses.includes(status))
      .map(({ what }) => what);
    return new Set(seen).size === this.#loops.length;
  }

  async #persist(what: string): Promise<void> {
    const send: Send = (url, init) => this.#send(what, url, init);
    const writer = new PersistentWriter(what, this.#key, send);
    await writer.write(this.#origin, () => this.#stopping);
    await writer.settle(this.#origin);
    this.acknowledged.push(...writer.acknowledged);
  }

  async #write(what: string): Promise<void> {
    for (let count = 1; !this.#stopping; count++) {
      const name = `${what}-${count}`;
      const body = JSON.stringify({ name, categoryId: 1 });
      const answer = await this.#send(what, `${this.#origin}/v1/pets`, { method: 'POST', body });
      const { id } = (await answer.json()) as { id: number };
      if (answer.status === 201) this.acknowledged.push({ name, id });
      else await delay(20);
    }
  }

  async #read(path: string): Promise<void> {
    while (!this.#stopping) {
      const { ok } = await this.#send(path, this.#origin + path);
      if (!ok) await delay(20);
    }
  }

  async #send(what: string, url: string, init: RequestInit = {}): Promise<Response> {
    const request = { since: performance.now() };
    this.#open.add(request);
    try {
      const headers = new Headers(init.headers);
      headers.set('Authorization', `Bearer ${this.#key}`);
      headers.set('Content-Type', 'application/json');
      const signal = AbortSignal.timeout(longestWaitMs);
      const answer = await fetch(url, { ...init, headers, signal });
      const text = await answer.text();
      const at = performance.now();
      this.observed.push({
        what,
        status: answer.status,
        code: (JSON.parse(text) as { code?: string }).code,
        retryAfter: answer.headers.get('Retry-After'),
        tookMs: at - request.since,
        at,
      });
      return new Response(text, { status: answer.status });
    } finally {
      this.#open.delete(request);
    }
  }
}

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
    // A lookup of such a key would get 503.
    for (const secret of [mistyped, null]) expect((await get('/v1/pets', secret)).status).toBe(401);
    for (const path of ['/healthz', '/v1/openapi.json']) {
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
   * Runs `load` while the server goes away and returns. It stays away until all requests have answers,
   * because a request that waits for the server would exceed any fixed deadline.
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

  // Kills are in test/release/faults.test.ts.
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

  test('a flood of requests gets only 503, and has no effect afterwards', async () => {
    await server.freeze();
    const flood = Array.from({ length: 1200 }, () => get('/v1/pets'));
    const answers = await Promise.all(flood).finally(() => server.thaw());
    const counted = Map.groupBy(answers, ({ status }) => status);
    expect([...counted.keys()]).toEqual([503]);
    await until('it answers again', async () => (await get('/v1/pets')).status === 200);
  });

  test('no answer is a 500, and the log has each outage once and no secret', async () => {
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
    const entries = service
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(entries.filter((line) => /"level":50|"status":500/.test(line)).slice(0, 5)).toEqual([]);
    expect(entries.filter((line) => line.includes(key))).toEqual([]);
    // Two that follow closely count as one.
    const outages = entries.filter((line) => line.includes('"database away'));
    expect(outages.length).toBeGreaterThan(0);
    expect(outages.length).toBeLessThanOrEqual(3);
    expect(entries.filter((line) => line.includes('request refused'))).toEqual([]);
    expect(service.stderr()).toBe('');
  });
});

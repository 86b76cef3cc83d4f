import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { AccessKey } from '../../src/app/keys.ts';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import type { TestDatabase } from '../support/servers/databases.ts';
import { lockTable } from '../support/servers/mariadb.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { startMysqlProxy, type MysqlProxy } from '../support/servers/mysql-proxy.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';

const deadlineMs = 300;

let home: TestDatabase;
let proxy: MysqlProxy;
/** A database with a deadline of an hour for itself and its requests. */
let patient: RunningApi;
/** A database with a deadline of an hour, so that only the deadline of the request can end a query. */
let hasty: RunningApi;
beforeAll(async () => {
  home = await migratedDatabase('mysql');
  proxy = await startMysqlProxy(home.url);
  patient = await startApi('mysql', { databaseUrl: proxy.url });
  hasty = await startApi('mysql', { databaseUrl: proxy.url, deadlineMs });
});
afterAll(async () => {
  await hasty.close();
  await patient.close();
  await proxy.stop();
  await home.drop();
});
afterEach(() => {
  proxy.recover();
  proxy.slowDown(0);
});

interface Sender {
  readonly losses: readonly ('statement' | 'answer')[];
  send(via: RunningApi, name: string): Promise<number>;
  readonly stored: number;
  countOf(name: string): Promise<number>;
}

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

const senders: Readonly<Record<string, () => Promise<Sender>>> = {
  'a POST to the API': () =>
    Promise.resolve({
      losses: ['statement', 'answer'],
      send: async (via, name) => {
        const answer = await via.send('/v1/pets', {
          method: 'POST',
          key: patient.account.key,
          body: JSON.stringify({ name, categoryId: 1 }),
          headers: { 'Idempotency-Key': name },
        });
        if (answer.status === 503) expect(answer.headers.get('Retry-After')).toBe('1');
        return answer.status;
      },
      stored: 201,
      countOf: async (name) => {
        const { text } = await patient.send('/v1/pets?limit=100');
        return occurrences(text, `"${name}"`);
      },
    }),
  'a form of the dashboard': async () => {
    const access = patient.container.get(AccessKey);
    const email = 'keeper@zoo.example';
    await access.createAccount({ name: 'Zoo', email, plan: 'enterprise' });
    const { secret } = await access.signInLinkFor(email);
    const network = '192.0.2.1';
    const session = await access.signInByLink(secret, { network, browser: 'Firefox' });
    const visitor = ({ origin }: RunningApi) =>
      new DashboardVisitor(origin, `__Host-session=${session.secret}`);
    return {
      losses: ['answer'],
      send: async (via, name) => {
        const form = { name, once: name.replaceAll(' ', '-') };
        const answer = await visitor(via).post('/dashboard', form);
        if (answer.status === 503) expect(answer.headers.get('Retry-After')).toBe('1');
        return answer.status;
      },
      stored: 303,
      countOf: async (name) => {
        const { text } = await visitor(patient).get('/dashboard');
        return occurrences(text, `>${name}</a>`);
      },
    };
  },
};

describe.each(Object.keys(senders))('%s', (which) => {
  let sender: Sender;
  beforeAll(async () => {
    sender = await senders[which]!();
  });

  const expectStoredOnce = async (name: string): Promise<void> => {
    await until('it is stored', async () => {
      const status = await sender.send(patient, name);
      expect([sender.stored, 409]).toContain(status);
      return status === sender.stored;
    });
    expect({ name, count: await sender.countOf(name) }).toEqual({ name, count: 1 });
  };

  test('waits for a slow database only once for the whole request, not once for each query', async () => {
    proxy.slowDown(deadlineMs / 5);
    expect(await sender.send(hasty, 'Slow Database')).toBe(503);
    proxy.slowDown(0);
    await expectStoredOnce('Slow Database');
  });

  test('is answered before its deadline, whatever is lost, and takes effect once when it is repeated', async () => {
    for (const what of sender.losses) {
      let isOver = false;
      for (let before = 0; !isOver; before++) {
        const name = `Lost ${what} ${before}`;
        proxy.loseAfter(before, what);
        const status = await sender.send(hasty, name);
        expect({ name, status }).toEqual({
          name,
          status: status === sender.stored && !proxy.hasLost ? sender.stored : 503,
        });
        isOver = !proxy.hasLost;
        proxy.recover();
        await expectStoredOnce(name);
      }
    }
  });
});

describe('the number of round trips to MySQL', () => {
  /**
   * The verb and table of each statement, one line for each packet. Omits statements that the service runs
   * at most once a second: the key lookup, which is cached, and the check for the primary.
   */
  const tripsOf = async (path: string, call: Parameters<RunningApi['send']>[1] = {}) => {
    proxy.takeAsked();
    const { status } = await patient.send(path, call);
    expect([200, 201]).toContain(status);
    const shown = (statement: string) => {
      const [verb = ''] = statement.split(' ');
      const table = /\b(?:into|from|update) `(\w+)`/.exec(statement)?.[1];
      return table === undefined ? verb : `${verb} ${table}`;
    };
    const asked = proxy.takeAsked().filter((text) => !text.includes('@@global.read_only'));
    const packets = asked.map((text) => text.split('; ').map(shown).join('; '));
    return packets.filter((packet) => !packet.endsWith(' api_key_secrets'));
  };

  /** Calls several times, because each connection of the pool prepares its statements once. */
  const fewestTrips = async (
    path: string,
    callOf: (n: number) => Parameters<RunningApi['send']>[1] = () => ({}),
  ) => {
    const all: string[][] = [];
    for (let n = 0; n < 4; n++) all.push(await tripsOf(path, callOf(n)));
    return all.toSorted((one, other) => one.length - other.length)[0];
  };

  test('is one for a page of animals or for one animal, once the statements are prepared', async () => {
    await patient.add('Trip');
    expect(await fewestTrips('/v1/pets')).toEqual(['execute pets']);
    expect(await fewestTrips('/v1/pets/1')).toEqual(['execute pets']);
  });

  test('is three for adding an animal under an Idempotency-Key, and two without one', async () => {
    const body = '{"name":"Trip","categoryId":1}';
    const add = { method: 'POST', body };
    const once = (n: number) => ({ ...add, headers: { 'Idempotency-Key': `trip-${n}` } });
    expect(await fewestTrips('/v1/pets', once)).toEqual([
      'begin; insert idempotency_keys',
      'insert pets',
      'insert events; update idempotency_keys; commit',
    ]);
    expect(await fewestTrips('/v1/pets', () => add)).toEqual([
      ...['begin; insert pets', 'insert events; commit'],
    ]);
  });

  test('is three for a repeated request, once the statements are prepared', async () => {
    const body = '{"name":"Trip","categoryId":1}';
    const once = { method: 'POST', body, headers: { 'Idempotency-Key': 'repeated trip' } };
    await patient.send('/v1/pets', once);
    expect(await fewestTrips('/v1/pets', () => once)).toEqual([
      'begin; insert idempotency_keys',
      'rollback',
      'execute idempotency_keys',
    ]);
  });
});

test('a locked table delays only the requests that need it', async () => {
  const get = async (path: string): Promise<number> => (await patient.send(path)).status;
  const lock = await lockTable(home.url, 'pets');
  try {
    const held = Array.from({ length: 15 }, (_, n) => [patient.add(`Held ${n}`), get('/v1/pets')]);
    await until('they fill what they may', async () => (await lock.waiting()) >= 8);
    const others: number[] = [];
    for (const path of ['/v1/store/orders', '/readyz', '/v1/store/orders']) {
      void get(path).then((status) => others.push(status));
    }
    await until('the others are answered', () => others.length === 3);
    expect(others).toEqual([200, 200, 200]);
    expect(await lock.waiting()).toBe(8);
    await lock.unlock();
    await Promise.all(held.flat());
  } finally {
    await lock.close();
  }
});

test('a slow Redis and a slow database share one deadline', async () => {
  const redis = await startTcpProxy(process.env['TEST_REDIS_URL'] ?? '');
  const settings = { REDIS_URL: `${redis.url}?commandTimeout=60000` };
  const both = await startApi('mysql', { databaseUrl: proxy.url, deadlineMs, settings });
  try {
    await until('Redis counts', async () => (await both.send('/readyz')).status === 200);
    redis.slowDown(deadlineMs / 5);
    await until(
      'Redis alone is not too slow',
      async () => (await both.send('/v1/pets')).status === 200,
    );
    proxy.slowDown(deadlineMs / 3);
    expect((await both.send('/v1/pets')).status).toBe(503);
    proxy.slowDown(0);
    redis.loseState();
    expect((await both.send('/v1/pets')).status).toBe(503);
  } finally {
    await both.close();
    await redis.stop();
  }
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findFreePort } from '../support/servers/debian-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { startRedis, type RedisServer } from '../support/servers/redis.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';

let home: Home;
beforeEach(async () => {
  home = await newHome(await migratedDatabase('mysql'));
});
afterEach(() => home.remove());

const json = async (line: string): Promise<unknown> => {
  const { code, stdout, stderr } = await home.run([...line.split(' '), '--json']);
  expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
  return JSON.parse(stdout);
};

interface NewAccount {
  readonly account: { readonly id: string };
  readonly key: { readonly id: string; readonly secret: string };
}

/**
 * An account whose limit is met within a day only. The clock is the real one: a minute can end at any moment, and
 * where the day is about to, this waits for the next one.
 */
const openAccount = async (perDay: number): Promise<NewAccount> => {
  const dayMs = 86_400_000;
  const isNearMidnight = () => Date.now() % dayMs > dayMs - 60_000;
  await until('midnight is past', () => !isNearMidnight(), 90_000);
  const create = 'account create --name Zoo --email zoo@animal-store.test --plan enterprise';
  const opened = (await json(create)) as NewAccount;
  const limits = `--plan enterprise --per-minute 100000 --per-day ${perDay}`;
  await json(`account set-plan --account ${opened.account.id} ${limits}`);
  return opened;
};

const ask = async ({ origin }: Service, { key }: NewAccount): Promise<Response> => {
  const headers = { Authorization: `Bearer ${key.secret}` };
  const response = await fetch(`${origin}/v1/pets`, { headers });
  await response.arrayBuffer();
  return response;
};

const left = (response: Response) => Number(response.headers.get('X-RateLimit-Remaining'));

const metric = async ({ origin }: Service, name: string): Promise<number> => {
  const text = await (await fetch(`${origin}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
};

describe('processes on one Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.stop());

  /** Waits until it has found Redis. Much patience, or a busy machine would look like one without Redis. */
  const start = async (address = `${redis.url}?commandTimeout=60000`): Promise<Service> => {
    const service = await home.start({ REDIS_URL: address, PORT: String(await findFreePort()) });
    await until('it is ready', () => isReady(service));
    return service;
  };

  const isReady = async ({ origin }: Service) => (await fetch(`${origin}/readyz`)).ok;

  test('let exactly as many concurrent requests pass as the plan allows', async () => {
    const account = await openAccount(60);
    const services = await Promise.all([start(), start()]);
    const remaining = await Promise.all(services.map(async (one) => left(await ask(one, account))));
    expect(remaining.sort()).toEqual([58, 59]);
    const answers = await Promise.all(
      services.flatMap((one) => Array.from({ length: 39 }, () => ask(one, account))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(58);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  test('continue from the last shared counts while Redis is away, and recover', async () => {
    const account = await openAccount(60);
    const service = await start();
    expect(left(await ask(service, account))).toBe(59);
    await redis.kill();
    const alone = await ask(service, account);
    expect([alone.status, left(alone)]).toEqual([200, 58]);
    expect(await metric(service, 'quota_counts_locally')).toBe(1);
    const ready = await fetch(`${service.origin}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { database: 'ok' }]);
    await redis.restart();
    await until('it is ready again', () => isReady(service));
    expect((await ask(service, account)).status).toBe(200);
    expect(await metric(service, 'quota_counts_locally')).toBe(0);
  });

  test('keep answering while their connections to Redis are dead, and count there again over new ones', async () => {
    const account = await openAccount(1000);
    const proxy = await startTcpProxy(redis.url);
    const service = await start(proxy.url);
    expect((await ask(service, account)).status).toBe(200);
    proxy.loseState();
    await until('Redis is away', async () => {
      expect((await ask(service, account)).status).toBe(200);
      return (await metric(service, 'quota_counts_locally')) === 1;
    });
    await until('Redis is back', async () => {
      expect((await ask(service, account)).status).toBe(200);
      return (await metric(service, 'quota_counts_locally')) === 0;
    });
    await until('it is ready again', () => isReady(service));
    await proxy.stop();
  });
});

describe('a process that counts by itself', () => {
  test('continues from its stored counts after kill -9', async () => {
    const account = await openAccount(5000);
    const service = await home.start();
    for (let i = 0; i < 20; i++) await ask(service, account);
    const before = left(await ask(service, account));
    await until('the counts are stored', async () => (await storedRest(account)) === before);
    await service.end('SIGKILL');
    const again = await home.start();
    expect(left(await ask(again, account))).toBe(before - 1);
    await again.end('SIGTERM');
    expect(await storedRest(account)).toBe(before - 1);
  });

  test('learns that another process revoked a key', async () => {
    const account = await openAccount(5000);
    const service = await home.start();
    expect((await ask(service, account)).status).toBe(200);
    await json(`key revoke --key ${account.key.id}`);
    await until('the key is refused', async () => (await ask(service, account)).status === 401);
  });
});

/** What is left of the window with the least left, as the operator's command reports it. */
const storedRest = async ({ account }: NewAccount): Promise<number> => {
  const { quota } = (await json(`account usage --account ${account.id}`)) as {
    quota: { speaks: { remaining: number } };
  };
  return quota.speaks.remaining;
};

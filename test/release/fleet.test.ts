import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findFreePort } from '../support/servers/debian-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { startRedis, type RedisServer } from '../support/servers/redis.ts';
import { ask, left, openAccount } from '../support/service/several-processes.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';

let home: Home;
beforeEach(async () => {
  home = await newHome(await migratedDatabase('mysql'));
});
afterEach(() => home.remove());

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

  /** Waits until it has found Redis, long enough for a busy machine. */
  const start = async (address = `${redis.url}?commandTimeout=60000`): Promise<Service> => {
    const service = await home.start({ REDIS_URL: address, PORT: String(await findFreePort()) });
    await until('it is ready', () => isReady(service));
    return service;
  };

  const isReady = async ({ origin }: Service) => (await fetch(`${origin}/readyz`)).ok;

  test('continue from the last shared counts while Redis is away, and recover', async () => {
    const account = await openAccount(home, 60);
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
    const account = await openAccount(home, 1000);
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

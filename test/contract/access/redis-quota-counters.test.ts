import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import { FailoverCounters } from '../../../src/adapters/redis/failover-counters.ts';
import { RedisQuotaCounters } from '../../../src/adapters/redis/redis-quota-counters.ts';
import { isAnswered, newSubject, openRedisCounters } from '../../support/access/counters.ts';
import { startRedis, type RedisServer } from '../../support/servers/redis.ts';
import { until } from '../../support/until.ts';

const now = new Date('2026-03-01T12:00:00Z');
const limits = { perMinute: 1, perDay: 1 };
const unavailable = expect.objectContaining({ name: 'Unavailable' }) as unknown;

/** A private server, which tests kill and freeze. */
let server: RedisServer;
let counters: RedisQuotaCounters;
beforeAll(async () => {
  server = await startRedis();
  counters = await openRedisCounters(server.url);
});
afterAll(async () => {
  counters.close();
  await server.stop();
});

test('records of a subject and of a key expire some days after their last use', async () => {
  const take = { subject: newSubject(), limits, striker: newSubject('k'), now };
  for (let n = 0; n < 2; n++) await counters.take(take);
  await counters.peek(newSubject(), now);
  const redis = new Redis(server.url);
  const keys = await redis.keys('*');
  const lives = await Promise.all(keys.map((key) => redis.ttl(key)));
  await redis.quit();
  expect(keys).toHaveLength(2);
  for (const life of lives) expect(life).toBeGreaterThan(2 * 86_400);
});

test('each call fails as unavailable when the server does not answer', async () => {
  const hasty = new RedisQuotaCounters(server.url, () => undefined);
  await until('Redis answers', () => isAnswered(hasty.ping()));
  await server.freeze();
  const calls = [
    hasty.take({ subject: newSubject(), limits, now }),
    hasty.peek(newSubject(), now),
    hasty.ping(),
  ];
  const outcomes = await Promise.allSettled(calls);
  server.thaw();
  for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: unavailable });
  await until('Redis answers again', () => isAnswered(hasty.ping()));
  hasty.close();
});

test('calls fail as unavailable while Redis is down, and count again when it restarts without its scripts', async () => {
  await server.kill();
  const take = { subject: newSubject(), limits, now };
  await expect(counters.take(take)).rejects.toEqual(unavailable);
  await expect(counters.ping()).rejects.toEqual(unavailable);
  await server.restart();
  const taken = await until('Redis counts', () => counters.take(take).catch(() => undefined));
  expect(taken).toEqual({ allowed: true, counts: { minute: 1, day: 1 }, strikes: 0 });
  expect(await counters.take(take)).toMatchObject({ allowed: false });
  expect(await counters.peek(take.subject, now)).toEqual({ minute: 1, day: 1 });
});

test('lost connections are reported', async () => {
  const told: Error[] = [];
  const nobody = new RedisQuotaCounters('redis://127.0.0.1:1', (error) => told.push(error));
  await expect(nobody.ping()).rejects.toEqual(unavailable);
  await until('the problem is told', () => told.length > 0);
  nobody.close();
  expect(told[0]).toHaveProperty('code', 'ECONNREFUSED');
});

test('a Redis server that restarts empty between two requests frees no quota', async () => {
  const shared = await openRedisCounters(server.url);
  const onLocal = () => undefined;
  const fleet = new FailoverCounters(shared, new MemoryQuotaCounters(), { onLocal });
  const take = { subject: newSubject(), limits: { perMinute: 3, perDay: 3 }, now };
  for (let n = 0; n < 3; n++) expect(await fleet.take(take)).toMatchObject({ allowed: true });
  await server.restart();
  await until('Redis answers again', () => isAnswered(shared.ping()));
  expect(await fleet.take(take)).toMatchObject({ allowed: false, counts: { minute: 3, day: 3 } });
  shared.close();
});

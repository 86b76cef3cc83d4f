import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import type { QuotaCounters } from '../../../src/access/ports.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import { FailoverCounters } from '../../../src/adapters/redis/failover-counters.ts';
import {
  RedisQuotaCounters,
  type CounterOptions,
} from '../../../src/adapters/redis/redis-quota-counters.ts';
import { OutOfTime } from '../../../src/kernel/ports.ts';
import { isAnswered, newSubject } from '../../support/access/counters.ts';
import { startRedis, type RedisServer } from '../../support/servers/redis.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';

const now = new Date('2026-03-01T12:00:00Z');
const limits = { perMinute: 30, perDay: 1000 };
const unavailable = expect.objectContaining({ name: 'Unavailable' }) as unknown;

/** Private servers, which tests freeze and demote. */
let server: RedisServer;
let heir: RedisServer;
let proxy: TcpProxy;
let watcher: Redis;
let subject: string;
const open: RedisQuotaCounters[] = [];
beforeAll(async () => {
  [server, heir] = await Promise.all([startRedis(), startRedis()]);
  watcher = new Redis(server.url);
});
beforeEach(async () => {
  proxy = await startTcpProxy(server.url);
  subject = newSubject();
});
afterEach(async () => {
  server.thaw();
  for (const counters of open.splice(0)) counters.close();
  await proxy.stop();
});
afterAll(async () => {
  watcher.disconnect();
  await Promise.all([server.stop(), heir.stop()]);
});

const join = async (url: string, options: CounterOptions = {}): Promise<RedisQuotaCounters> => {
  const counters = new RedisQuotaCounters(url, () => undefined, options);
  open.push(counters);
  await until('Redis answers', () => isAnswered(counters.ping()));
  return counters;
};
const patient = { timeoutMs: 60_000 };
const take = (counters: QuotaCounters, striker?: string) =>
  counters.take({ subject, limits, striker, now });

/** How many scripts the server has run. */
const scriptsRun = async (): Promise<number> => {
  const stats = await watcher.info('commandstats');
  const calls = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
};

test('a dead connection is replaced by a new one', async () => {
  const counters = await join(proxy.url);
  proxy.loseState();
  await expect(take(counters)).rejects.toEqual(unavailable);
  expect(await until('it counts', () => take(counters).catch(() => undefined))).toMatchObject({
    allowed: true,
  });
});

test('a connection that dies while it is being opened is replaced as well', async () => {
  proxy.swallowNew(true);
  const counters = new RedisQuotaCounters(proxy.url, () => undefined);
  open.push(counters);
  await until('the first one is given up', () => proxy.accepted > 1);
  proxy.swallowNew(false);
  await until('it counts', () => take(counters).catch(() => undefined));
});

test('a dead connection is replaced before any request needs it', async () => {
  const counters = await join(proxy.url);
  proxy.loseState();
  await until('there is a new connection', () => proxy.accepted > 1);
  await until('it answers', () => isAnswered(counters.ping()));
});

test('after one missing answer, requests are counted locally without waiting until Redis answers', async () => {
  const told: boolean[] = [];
  const counters = new FailoverCounters(await join(server.url), new MemoryQuotaCounters(), {
    onLocal: (local) => told.push(local),
  });
  await server.freeze();
  await take(counters);
  for (let n = 2; n <= 20; n++) {
    const taken = await Promise.race([take(counters), setImmediate('it waited')]);
    expect(taken).toMatchObject({ allowed: true, counts: { minute: n } });
  }
  expect(told).toEqual([true]);
  server.thaw();
  await until('Redis counts', async () => {
    await take(counters);
    return told.at(-1) === false;
  });
});

test('an outage begins when the connection breaks, and further failures do not begin it anew', async () => {
  let elapsed = 5000;
  let problems = 0;
  const counters = new RedisQuotaCounters(proxy.url, () => (problems += 1), {
    elapsed: () => elapsed,
  });
  open.push(counters);
  await until('Redis answers', () => isAnswered(counters.ping()));
  await proxy.stop();
  await until('it is noticed', () => counters.awaySince !== undefined);
  elapsed += 1000;
  const before = problems;
  await until('it has tried again twice', () => problems > before + 1);
  expect(counters.awaySince).toBe(5000);
});

test('knows since when Redis has not answered', async () => {
  let elapsed = 5000;
  const counters = await join(server.url, { elapsed: () => elapsed });
  expect(counters.awaySince).toBeUndefined();
  await server.freeze();
  await expect(take(counters)).rejects.toEqual(unavailable);
  elapsed += 1000;
  await expect(take(counters)).rejects.toEqual(unavailable);
  expect(counters.awaySince).toBe(5000);
  server.thaw();
  await until('it answers', () => isAnswered(counters.ping()));
  expect(counters.awaySince).toBeUndefined();
});

test('requests abandoned while Redis is frozen do not count when it resumes, and of N + k exactly N pass', async () => {
  const [one, other] = [await join(server.url), await join(server.url)];
  const striker = newSubject('k');
  const before = await scriptsRun();
  await server.freeze();
  const lost = Array.from({ length: 20 }, (_, n) => take(n % 2 ? one : other, striker));
  const outcomes = await Promise.allSettled(lost);
  server.thaw();
  for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: unavailable });
  await until('the server ran them', async () => (await scriptsRun()) >= before + lost.length);
  const fleet = [await join(server.url, patient), await join(server.url, patient)] as const;
  expect(await fleet[0].peek(subject, now)).toEqual({ minute: 0, day: 0 });
  const takes = Array.from({ length: 50 }, (_, n) => take(fleet[n % 2 ? 1 : 0]));
  const passed = (await Promise.all(takes)).filter(({ allowed }) => allowed);
  expect(passed).toHaveLength(limits.perMinute);
});

test('a request whose deadline passes first is not counted and does not mean that Redis is away', async () => {
  const deadline = { leftMs: 50 };
  const told: boolean[] = [];
  const shared = await join(server.url, { ...patient, deadline });
  const counters = new FailoverCounters(shared, new MemoryQuotaCounters(), {
    onLocal: (local) => told.push(local),
  });
  const before = await scriptsRun();
  await server.freeze();
  const lost = Array.from({ length: 20 }, () => take(counters));
  for (const one of lost) await expect(one).rejects.toBeInstanceOf(OutOfTime);
  deadline.leftMs = 0;
  await expect(take(counters)).rejects.toBeInstanceOf(OutOfTime);
  server.thaw();
  await until('the server ran them', async () => (await scriptsRun()) >= before + lost.length);
  deadline.leftMs = Infinity;
  expect(await take(counters)).toMatchObject({ counts: { minute: 1, day: 1 } });
  expect(told).toEqual([]);
});

test('an abandoned request behind another abandoned one on the same connection is not counted either', async () => {
  const [counters, hasty] = [await join(server.url), await join(server.url, { timeoutMs: 300 })];
  const before = await scriptsRun();
  await server.freeze();
  const older = Promise.allSettled([take(counters)]);
  await expect(take(hasty)).rejects.toEqual(unavailable);
  const both = await Promise.all([older, Promise.allSettled([take(counters)])]);
  server.thaw();
  for (const outcome of both.flat()) expect(outcome).toMatchObject({ reason: unavailable });
  await until('the server ran them', async () => (await scriptsRun()) >= before + 3);
  const lasting = await join(server.url, patient);
  expect(await lasting.peek(subject, now)).toEqual({ minute: 0, day: 0 });
});

test('an abandoned refusal is not a strike', async () => {
  const [hasty, lasting] = [await join(server.url), await join(server.url, patient)];
  const striker = newSubject('k');
  for (let n = 0; n < limits.perMinute; n++) await take(lasting);
  const before = await scriptsRun();
  await server.freeze();
  const lost = Array.from({ length: 12 }, () => take(hasty, striker));
  await Promise.allSettled(lost);
  server.thaw();
  await until('the server ran them', async () => (await scriptsRun()) >= before + lost.length);
  expect(await take(lasting, striker)).toMatchObject({ allowed: false, strikes: 1 });
});

test('requests do not wait for a server that answers but cannot run scripts', async () => {
  const counters = await join(server.url);
  await watcher.call('CLIENT', 'PAUSE', '60000', 'WRITE');
  await expect(take(counters)).rejects.toEqual(unavailable);
  // Meanwhile new connections are opened, which answer everything except scripts.
  const connections = async () => /received:(\d+)/.exec(await watcher.info('stats'))?.[1];
  const before = await connections();
  await until('there is a new one', async () => (await connections()) !== before);
  const outcome = await Promise.race([isAnswered(take(counters)), setImmediate('it waited')]);
  await watcher.call('CLIENT', 'UNPAUSE');
  expect(outcome).toBe(false);
  const abandoned = subject;
  subject = newSubject();
  await until('it counts', () => take(counters).catch(() => undefined));
  const lasting = await join(server.url, patient);
  expect(await lasting.peek(abandoned, now)).toEqual({ minute: 0, day: 0 });
});

test.each([-600_000, 600_000])(
  'a jump of %d ms between the clocks of the process and Redis loses no request',
  async (jump) => {
    let jumped = 0;
    const counters = await join(server.url, { ...patient, elapsed: () => jumped });
    await take(counters);
    jumped = jump;
    expect(await take(counters)).toMatchObject({ allowed: true, counts: { minute: 2, day: 2 } });
    expect(await take(counters)).toMatchObject({ allowed: true, counts: { minute: 3, day: 3 } });
  },
);

test('a request that arrives late twice fails as unavailable and is not counted', async () => {
  let watch = 0;
  const counters = await join(server.url, { ...patient, elapsed: () => (watch -= 600_000) });
  await expect(take(counters)).rejects.toEqual(unavailable);
  expect(await counters.peek(subject, now)).toEqual({ minute: 0, day: 0 });
});

test('an error reply by Redis keeps the connection: other requests are still counted', async () => {
  const counters = await join(server.url, patient);
  await watcher.set(`animal-store:quota:${subject}`, 'not a hash');
  await expect(take(counters)).rejects.toEqual(unavailable);
  subject = newSubject();
  expect(await take(counters)).toMatchObject({ allowed: true });
});

test('a process connects to the new primary when its server becomes a replica', async () => {
  const counters = await join(proxy.url, patient);
  await watcher.replicaof('127.0.0.1', heir.port);
  proxy.leadTo(heir.url);
  await until('it counts', () => take(counters).catch(() => undefined));
  await watcher.replicaof('NO', 'ONE');
  const there = await join(heir.url, patient);
  expect(await there.peek(subject, now)).toEqual({ minute: 1, day: 1 });
});

test('when its server has lost its replicas, a process connects to the primary that the address now leads to', async () => {
  const counters = await join(proxy.url, patient);
  await watcher.config('SET', 'min-replicas-to-write', '1');
  await expect(take(counters)).rejects.toEqual(unavailable);
  proxy.leadTo(heir.url);
  const { allowed } = await until('it counts', () => take(counters).catch(() => undefined));
  expect(allowed).toBe(true);
  await watcher.config('SET', 'min-replicas-to-write', '0');
});

test('a server that refuses writes fails the probe and counts as unavailable', async () => {
  const counters = await join(server.url, patient);
  await watcher.config('SET', 'min-replicas-to-write', '1');
  await until('it is away', async () => !(await isAnswered(counters.ping())));
  await watcher.config('SET', 'min-replicas-to-write', '0');
  await until('it is back', () => isAnswered(counters.ping()));
});

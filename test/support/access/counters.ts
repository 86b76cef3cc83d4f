import { randomUUID } from 'node:crypto';
import type { QuotaCounters } from '../../../src/access/ports.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import { FailoverCounters } from '../../../src/adapters/redis/failover-counters.ts';
import { RedisQuotaCounters } from '../../../src/adapters/redis/redis-quota-counters.ts';
import { until } from '../until.ts';

export interface OpenCounters {
  readonly counters: QuotaCounters;
  /** The same counts through another adapter, as in another process. */
  readonly secondProcess: QuotaCounters;
  close(): void;
}

export const counterKinds = ['memory', 'Redis', 'Redis with a stand-in'] as const;
export type CounterKind = (typeof counterKinds)[number];

/** All tests share one Redis server, so each uses its own subjects. */
export const newSubject = (kind = 'account'): string => `${kind}:${randomUUID()}`;

const redisServerUrl = (): string => {
  const url = process.env['TEST_REDIS_URL'];
  if (!url) throw new Error('TEST_REDIS_URL is not set; run the tests with make test');
  return url;
};

export const isAnswered = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    () => false,
  );

export const openRedisCounters = async (url = redisServerUrl()): Promise<RedisQuotaCounters> => {
  const counters = new RedisQuotaCounters(url, () => undefined, { timeoutMs: 60_000 });
  await until('Redis answers', () => isAnswered(counters.ping()));
  return counters;
};

export const openCounters = async (kind: CounterKind): Promise<OpenCounters> => {
  if (kind === 'memory') {
    const counters = new MemoryQuotaCounters();
    return { counters, secondProcess: counters, close: () => undefined };
  }
  const [first, second] = await Promise.all([openRedisCounters(), openRedisCounters()]);
  const onLocal = () => {
    throw new Error('Redis was away for a moment');
  };
  const wrapped = (shared: RedisQuotaCounters): QuotaCounters =>
    kind === 'Redis'
      ? shared
      : new FailoverCounters(shared, new MemoryQuotaCounters(), { onLocal });
  return {
    counters: wrapped(first),
    secondProcess: wrapped(second),
    close: () => {
      first.close();
      second.close();
    },
  };
};

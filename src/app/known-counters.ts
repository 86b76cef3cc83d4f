import type { Container } from 'inversify';
import { CounterKeeper } from '../adapters/metering/counter-keeper.ts';
import { ConfigKey, LogKey, RedisCountersKey } from './keys.ts';

/** Loads the counts so far. Call it before anything is counted or shown. */
export const recallCounters = async (container: Container): Promise<void> => {
  if (container.get(ConfigKey).redisUrl === undefined) {
    await container.get(CounterKeeper).restore();
    return;
  }
  const redis = container.get(RedisCountersKey);
  await redis.ready();
  if (!redis.isAnswering) {
    container
      .get(LogKey)
      .warn(
        'Redis does not answer: until it does, this process counts requests by itself for at most 60 s, and learns late ' +
          'what others store',
      );
  }
};

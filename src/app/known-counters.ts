import type { Container } from 'inversify';
import { CounterKeeper } from '../adapters/metering/counter-keeper.ts';
import { ConfigKey, RedisCountersKey } from './keys.ts';

/** Loads the counts so far. Call it before anything is counted or shown. */
export const recallCounters = async (container: Container): Promise<void> => {
  if (container.get(ConfigKey).redisUrl === undefined) await container.get(CounterKeeper).restore();
  else await container.get(RedisCountersKey).ready();
};

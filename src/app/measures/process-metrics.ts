import type { ResolutionContext } from 'inversify';
import { Metrics } from '../../adapters/http/metrics/metrics.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { EventLoopWatch } from '../../adapters/system/event-loop-watch.ts';
import { Clock } from '../../kernel/clock.ts';
import { Outbox } from '../../kernel/outbox.ts';
import { ConfigKey, RedisCountersKey } from '../keys.ts';
import { version } from '../version.ts';
import { showOutbox } from './show-outbox.ts';
import { showBuild, showDisk, showEventLoop, showPool, showRedis } from './show-process.ts';

/** What every process measures, whatever its roles. */
export const processMetrics = (c: ResolutionContext): Metrics => {
  const metrics = new Metrics();
  const { dataDir, redisUrl } = c.get(ConfigKey);
  showBuild(metrics, version());
  showEventLoop(metrics, c.get(EventLoopWatch));
  showPool(metrics, c.get(Database));
  showDisk(metrics, dataDir);
  showOutbox(metrics, c.get(Outbox), c.get(Clock));
  if (redisUrl !== undefined) showRedis(metrics, c.get(RedisCountersKey));
  return metrics;
};

import { statfs } from 'node:fs/promises';
import type { ResolutionContext } from 'inversify';
import {
  buildMeasures,
  diskMeasures,
  eventLoopMeasures,
  poolMeasures,
  redisMeasures,
} from '../../adapters/http/metrics/measures.ts';
import { Metrics } from '../../adapters/http/metrics/metrics.ts';
import { outboxMeasures } from '../../adapters/http/metrics/stored-measures.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { EventLoopWatch } from '../../adapters/system/event-loop-watch.ts';
import { Clock } from '../../kernel/ports.ts';
import { Outbox } from '../../kernel/queue.ts';
import { ConfigKey, RedisCountersKey } from '../keys.ts';
import { version } from '../version.ts';

/** What every process measures, whatever its roles. */
export const processMetrics = (c: ResolutionContext): Metrics => {
  const metrics = new Metrics();
  const { dataDir, redisUrl } = c.get(ConfigKey);
  const [watch, database] = [c.get(EventLoopWatch), c.get(Database)];
  metrics.show(buildMeasures, () => ({ version: version(), node: process.versions.node }));
  metrics.show(eventLoopMeasures, () => watch.state());
  metrics.show(poolMeasures, () => database.engine.connections.load());
  metrics.show(diskMeasures, () => statfs(dataDir));
  showOutbox(metrics, c.get(Outbox), c.get(Clock));
  if (redisUrl !== undefined) {
    const counters = c.get(RedisCountersKey);
    metrics.show(redisMeasures, () => counters);
  }
  return metrics;
};

/** Read at each scrape, and by each process: deliveries wait above all while no worker runs. */
export const showOutbox = (
  metrics: Metrics,
  outbox: Pick<Outbox, 'state' | 'oldest'>,
  clock: Clock,
): void => {
  metrics.show(outboxMeasures, async () => ({
    counts: { ...(await outbox.state()) },
    oldest: { ...(await outbox.oldest()) },
    now: clock.now(),
  }));
};

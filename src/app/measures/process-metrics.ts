import type { ResolutionContext } from 'inversify';
import { Metrics } from '../../adapters/http/metrics/metrics.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { EventLoopWatch } from '../../adapters/system/event-loop-watch.ts';
import { Clock } from '../../kernel/clock.ts';
import { Outbox, type OutboxState } from '../../kernel/queue.ts';
import { ConfigKey, RedisCountersKey } from '../keys.ts';
import { version } from '../version.ts';
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

/** Read at each scrape, and by each process: deliveries wait above all while no worker runs. */
export const showOutbox = (
  metrics: Metrics,
  outbox: Pick<Outbox, 'state' | 'oldest'>,
  clock: Clock,
): void => {
  metrics.show(['outbox_deliveries', 'outbox_oldest_age_seconds'], async () => {
    const [counts, oldest] = [await outbox.state(), await outbox.oldest()];
    const now = clock.now().getTime();
    const states = Object.keys(counts) as (keyof OutboxState)[];
    const ageOf = (at = new Date(now)) => Math.max(0, now - at.getTime()) / 1000;
    return {
      outbox_deliveries: states.map((state) => ({ labels: { state }, value: counts[state] })),
      outbox_oldest_age_seconds: states.map((state) => {
        return { labels: { state }, value: ageOf(oldest[state]) };
      }),
    };
  });
};

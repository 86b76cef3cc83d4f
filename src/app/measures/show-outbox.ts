import type { Metrics } from '../../adapters/http/metrics/metrics.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Outbox, OutboxState } from '../../kernel/outbox.ts';

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

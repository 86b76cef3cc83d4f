import { setTimeout as delay } from 'node:timers/promises';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Outbox } from '../../kernel/outbox.ts';
import type { Route } from './routing.ts';

/** Other metrics do not wait longer for the two that come from the database. */
const longestLookMs = 500;

/** What Prometheus reads at /metrics. */
export class Metrics {
  readonly registry = new Registry();
  readonly #countsLocally: Gauge;
  readonly #duration: Histogram<'operation' | 'status'>;

  constructor(outbox: Outbox) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#duration = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time to answer a request, by operation and status',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    });
    this.#countsLocally = new Gauge({
      name: 'quota_counts_locally',
      help: '1 while Redis is away and this process counts requests by itself',
      registers,
    });
    new Gauge({
      name: 'outbox_deliveries',
      help: 'Events that a subscriber has still to see, by state',
      labelNames: ['state'],
      registers,
      async collect() {
        // While the database is away the other metrics are needed most: these two are left out then.
        this.reset();
        const known = await Promise.race([outbox.state(), delay(longestLookMs)]).catch(
          () => undefined,
        );
        if (!known) return;
        this.set({ state: 'waiting' }, known.waiting);
        this.set({ state: 'parked' }, known.parked);
      },
    });
  }

  /** Whether this process counts by itself because the shared counters are away. */
  setCountsLocally(local: boolean): void {
    this.#countsLocally.set(local ? 1 : 0);
  }

  observe(operation: string, status: number, seconds: number): void {
    this.#duration.observe({ operation, status }, seconds);
  }

  route(): Route {
    return {
      method: 'GET',
      path: '/metrics',
      answer: async (ctx) => {
        ctx.body = await this.registry.metrics();
        ctx.set('Content-Type', this.registry.contentType);
      },
    };
  }
}

import Router from '@koa/router';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Outbox } from '../../kernel/outbox.ts';

/** What Prometheus reads at /metrics. */
export class Metrics {
  readonly registry = new Registry();
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
    new Gauge({
      name: 'outbox_deliveries',
      help: 'Events that a subscriber has still to see, by state',
      labelNames: ['state'],
      registers,
      async collect() {
        // While the database is away the other metrics are needed most: these two are left out then.
        this.reset();
        const known = await outbox.state().catch(() => undefined);
        if (!known) return;
        this.set({ state: 'waiting' }, known.waiting);
        this.set({ state: 'parked' }, known.parked);
      },
    });
  }

  observe(operation: string, status: number, seconds: number): void {
    this.#duration.observe({ operation, status }, seconds);
  }

  route(): Router {
    const router = new Router();
    router.get('/metrics', async (ctx) => {
      ctx.body = await this.registry.metrics();
      ctx.set('Content-Type', this.registry.contentType);
    });
    return router;
  }
}

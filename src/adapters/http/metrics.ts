import { setTimeout as delay } from 'node:timers/promises';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Outbox } from '../../kernel/outbox.ts';
import type { Route } from './operations/routing.ts';

/** Longest wait for the two metrics that come from the database. */
const longestLookMs = 500;

const edgeGauges = [
  ['hosts', 'edge_hosts', 'Hosts that this process serves'],
  ['connections', 'edge_connections', 'Open connections to both ports'],
  [
    'answers',
    'edge_answers',
    'Requests over TLS whose answers visitors have not received completely',
  ],
  ['heldBytes', 'edge_held_bytes', 'Memory that these answers hold'],
] as const;

const edgeTotals = [
  ['requests', 'edge_requests_total', 'Requests to the edge'],
  [
    'refusedHandshakes',
    'edge_refused_handshakes_total',
    'TLS handshakes that failed, most of them for names that are not served',
  ],
  [
    'refusedRequests',
    'edge_refused_requests_total',
    'Requests refused because their network, or all visitors together, held too much',
  ],
  ['stalled', 'edge_stalled_total', 'Answers and connections ended because visitors read nothing'],
] as const;

/** The counters of an edge; totals since the process started. */
export type EdgeState = Readonly<
  Record<(typeof edgeGauges | typeof edgeTotals)[number][0], number>
>;

/** Event loop delays since the last scrape. */
export interface EventLoopState {
  readonly meanSeconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
  /** Delays that were logged, since the process started. */
  readonly noticed: number;
}

/** The metrics at /metrics, in Prometheus format. */
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
      help: 'Deliveries that are not done, by state',
      labelNames: ['state'],
      registers,
      async collect() {
        // During a database outage the other metrics matter most, so these two are left out.
        this.reset();
        const known = await Promise.race([
          outbox.state(),
          delay(longestLookMs, undefined, { ref: false }),
        ]).catch(() => undefined);
        if (!known) return;
        this.set({ state: 'waiting' }, known.waiting);
        this.set({ state: 'parked' }, known.parked);
      },
    });
  }

  /** Whether this process counts locally because the shared counters are unreachable. */
  setCountsLocally(local: boolean): void {
    this.#countsLocally.set(local ? 1 : 0);
  }

  /** Adds event loop delays to the metrics. */
  watchEventLoop(state: () => EventLoopState): void {
    const registers = [this.registry];
    new Gauge({
      name: 'event_loop_delay_seconds',
      help: 'How late the event loop was since the last scrape',
      labelNames: ['of'],
      registers,
      collect() {
        const { meanSeconds, p99Seconds, maxSeconds, noticed: total } = state();
        this.set({ of: 'mean' }, meanSeconds);
        this.set({ of: 'p99' }, p99Seconds);
        this.set({ of: 'max' }, maxSeconds);
        noticed.reset();
        noticed.inc(total);
      },
    });
    // Behind it: metrics are read in this order.
    const noticed = new Counter({
      name: 'event_loop_blocked_total',
      help: 'Delays of the event loop of 200 ms and more; each is a line in the log',
      registers,
    });
  }

  /** Adds this process's edge to the metrics. */
  watchEdge(state: () => EdgeState): void {
    const registers = [this.registry];
    for (const [field, name, help] of edgeGauges) {
      new Gauge({
        ...{ name, help, registers },
        collect() {
          this.set(state()[field]);
        },
      });
    }
    for (const [field, name, help] of edgeTotals) {
      new Counter({
        ...{ name, help, registers },
        collect() {
          this.reset();
          this.inc(state()[field]);
        },
      });
    }
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

import pTimeout from 'p-timeout';
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import type { Found, Measure, Sample } from './measure.ts';
import {
  measures,
  type CounterName,
  type HistogramName,
  type LabelsOf,
  type MeasureName,
  type Tally,
} from './measures.ts';

const longestLookMs = 500;

/** Seconds. They include the limits of alerts, because Prometheus interpolates between two buckets. */
const buckets = {
  http_request_duration_seconds: [
    ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  ],
  job_duration_seconds: [0.01, 0.1, 1, 10, 60, 600],
} as const satisfies Readonly<Record<HistogramName, readonly number[]>>;

/** Gauges of prom-client with names of counters. The same names without `_total` give these numbers by type. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

export class Metrics implements Tally {
  readonly registry = new Registry();
  #together: (() => Promise<string>) | undefined;
  readonly #counters = new Map<CounterName, Counter>();
  readonly #reads = new Map<string, (() => Promise<Found>)[]>();
  readonly #countsLocally = new Gauge(this.#configuration('quota_counts_locally'));
  readonly #histograms = {
    http_request_duration_seconds: this.#histogram('http_request_duration_seconds'),
    job_duration_seconds: this.#histogram('job_duration_seconds'),
  } satisfies Readonly<Record<HistogramName, Histogram>>;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    for (const name of misnamed) this.registry.removeSingleMetric(name);
  }

  setCountsLocally(local: boolean): void {
    this.#countsLocally.set(local ? 1 : 0);
  }

  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by = 1): void {
    let counter = this.#counters.get(name);
    if (!counter) {
      counter = new Counter(this.#configuration(name));
      this.#counters.set(name, counter);
    }
    counter.inc(labels, by);
  }

  time<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void {
    this.#histograms[name].observe(labels, seconds);
  }

  observe(operation: string, status: number, seconds: number): void {
    this.#histograms.http_request_duration_seconds.observe({ operation, status }, seconds);
  }

  /**
   * Shows these rows of the table. Each scrape asks their source once for all of them. Values that the source does not
   * know, or not in time, are left out, so that an outage does not hide the other measures. Several sources may show
   * different series of one measure.
   */
  show<Source>(
    rows: Readonly<Partial<Record<MeasureName, Measure<Source>>>>,
    source: () => Source | undefined | Promise<Source | undefined>,
  ): void {
    const look = onceAtATime(() => inTime(source));
    for (const [name, row] of Object.entries(rows)) {
      this.#show(name as MeasureName, async () => {
        const found = await look();
        return found === undefined ? undefined : row.read?.(found);
      });
    }
  }

  /** @param text the metrics of all processes on this port, shown instead of this process's metrics */
  showTogether(text: () => Promise<string>): void {
    this.#together = text;
  }

  text(): Promise<string> {
    return this.#together ? this.#together() : this.registry.metrics();
  }

  #show(name: MeasureName, read: () => Promise<Found>): void {
    const known = this.#reads.get(name);
    if (known) {
      known.push(read);
      return;
    }
    const reads = [read];
    this.#reads.set(name, reads);
    const collect = async (): Promise<void> => {
      const samples = (await Promise.all(reads.map((one) => one()))).flatMap(samplesOf);
      metric.reset();
      // A metric without labels is 0 after a reset.
      if (samples.length === 0) metric.remove({});
      for (const { labels, value } of samples) metric.inc(labels, value);
    };
    const configuration = { ...this.#configuration(name), collect };
    const isCounter = measures[name].type === 'counter';
    const metric = isCounter ? new Counter(configuration) : new Gauge(configuration);
  }

  #histogram(name: HistogramName): Histogram {
    return new Histogram({ ...this.#configuration(name), buckets: [...buckets[name]] });
  }

  #configuration(name: MeasureName) {
    const { help, labels, together } = measures[name];
    const registers = [this.registry];
    return { name, help, labelNames: [...labels], aggregator: together, registers };
  }
}

const samplesOf = (found: Found): readonly Sample[] =>
  typeof found === 'number' ? [{ labels: {}, value: found }] : (found ?? []);

const inTime = <T>(read: () => T | Promise<T>): Promise<T | undefined> => {
  const nothing = () => undefined;
  const found = (async () => read())();
  return pTimeout(found, { milliseconds: longestLookMs, fallback: nothing }).catch(nothing);
};

/** Lets concurrent callers share one result, because a scrape collects all measures at once. */
const onceAtATime = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let current: Promise<T> | undefined;
  return () =>
    (current ??= work().finally(() => {
      current = undefined;
    }));
};

interface KnownMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly aggregator: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

/** The metrics of one process, in the form that is sent to another process. */
export type MetricSnapshot = readonly KnownMetric[];

/** The package declares a metric's type as a number, but it is a word. */
export const snapshotOf = async (registry: Registry): Promise<MetricSnapshot> =>
  (await registry.getMetricsAsJSON()) as unknown as MetricSnapshot;

const together = (snapshots: readonly MetricSnapshot[]): Registry =>
  AggregatorRegistry.aggregate([...snapshots]);

/** Combines the metrics of several processes: counters and histograms as sums, gauges as each one declares. */
export const shownTogether = (snapshots: readonly MetricSnapshot[]): Promise<string> =>
  together(snapshots).metrics();

/** Keeps the counts of processes that have ended: Prometheus would take a falling sum for new requests. */
export const totalsOf = async (snapshots: readonly MetricSnapshot[]): Promise<MetricSnapshot> =>
  (await snapshotOf(together(snapshots))).filter(
    ({ type }) => type === 'counter' || type === 'histogram',
  );

import { AggregatorRegistry, type Registry } from 'prom-client';

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

/** The metrics of one process, as they travel to another one. */
export type MetricSnapshot = readonly KnownMetric[];

/** The package declares the type of a metric as a number, and it is a word. */
export const snapshotOf = async (registry: Registry): Promise<MetricSnapshot> =>
  (await registry.getMetricsAsJSON()) as unknown as MetricSnapshot;

const together = (snapshots: readonly MetricSnapshot[]): Registry =>
  AggregatorRegistry.aggregate([...snapshots]);

/** What /metrics shows of several processes: counters and histograms added up, gauges as each one says. */
export const shownTogether = (snapshots: readonly MetricSnapshot[]): Promise<string> =>
  together(snapshots).metrics();

/** What stays counted after its process has ended: a sum that falls would look like new requests to Prometheus. */
export const totalsOf = async (snapshots: readonly MetricSnapshot[]): Promise<MetricSnapshot> =>
  (await snapshotOf(together(snapshots))).filter(
    ({ type }) => type === 'counter' || type === 'histogram',
  );

/** How the values of several processes, and of several machines, become one. */
export type Together = 'sum' | 'min' | 'max';

/** As Prometheus wants units: base units, which the name ends with. */
type Unit = 'seconds' | 'bytes' | 'none';

export interface Measure {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly unit: Unit;
  /** Counters and histograms always add up. */
  readonly together: Together;
  /** None may have more than a few dozen values: no host, no account, no path. */
  readonly labels: readonly string[];
  readonly help: string;
  /** Which processes show it. */
  readonly from: string;
}

export const counter = { type: 'counter', unit: 'none', together: 'sum' } as const;
export const histogram = { type: 'histogram', unit: 'none', together: 'sum' } as const;
/** Gauges: each process has its own share of it. */
export const sumOf = { type: 'gauge', unit: 'none', together: 'sum' } as const;
/** All see the same, or the worst one matters. */
export const maxOf = { type: 'gauge', unit: 'none', together: 'max' } as const;
/** The least matters. */
export const minOf = { type: 'gauge', unit: 'none', together: 'min' } as const;

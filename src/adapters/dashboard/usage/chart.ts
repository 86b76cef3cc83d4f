import { scaleBand, scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';
import { type UsageOutcome, usageOutcomes, type UsageSum } from '../../../access/ports.ts';
import { hourMs, dayMs } from '../../../kernel/durations.ts';

export interface Column {
  readonly begin: Date;
  readonly requests: Readonly<Record<UsageOutcome, number>>;
}

/** Bottom to top: requests that count against the quota, then those refused because of it. */
export const stacking = [
  ...usageOutcomes.filter((outcome) => outcome !== 'refused'),
  'refused',
] as const satisfies readonly UsageOutcome[];

export interface Bar {
  readonly column: Column;
  readonly x: number;
  readonly width: number;
  readonly parts: readonly {
    readonly outcome: UsageOutcome;
    readonly y: number;
    readonly height: number;
  }[];
}

export interface Chart {
  readonly bars: readonly Bar[];
  readonly ticks: readonly { readonly value: number; readonly y: number }[];
  /** Undefined if a column has no limit. */
  readonly limit: { readonly value: number; readonly y: number } | undefined;
}

const leastHeight = 0.8;

/**
 * Stacks bars on a scale that begins at zero and has round whole numbers.
 * @param limit of one column; always in view, even far above the bars
 */
export const chartOf = (columns: readonly Column[], limit: number | undefined): Chart => {
  const highest = Math.max(0, ...columns.map(totalOf));
  const top = Math.max(1, highest, limit ?? 0);
  const y = scaleLinear().domain([0, top]).range([100, 0]).nice(4);
  const x = scaleBand<number>()
    .domain(columns.map((_, index) => index))
    .range([0, 100])
    .padding(0.22);
  const parts = partsOf(columns, y);
  return {
    bars: columns.map((column, index) => {
      return { column, x: x(index) ?? 0, width: x.bandwidth(), parts: parts[index] ?? [] };
    }),
    ticks: y
      .ticks(4)
      .filter(Number.isInteger)
      .map((value) => ({ value, y: y(value) })),
    limit: limit === undefined ? undefined : { value: limit, y: y(limit) },
  };
};

export const totalOf = ({ requests }: Pick<Column, 'requests'>): number =>
  Object.values(requests).reduce((sum, one) => sum + one, 0);

const partsOf = (
  columns: readonly Column[],
  y: (value: number) => number,
): readonly Bar['parts'][] => {
  const series = stack<unknown, Column, UsageOutcome>()
    .keys(stacking)
    .value(({ requests }, outcome) => requests[outcome])([...columns]);
  return columns.map((column, index) => {
    const whole = 100 - y(totalOf(column));
    const stretch = whole > 0 ? Math.max(1, leastHeight / whole) : 1;
    return series.flatMap((layer) => {
      const [from, to] = layer[index] ?? [0, 0];
      const height = (y(from) - y(to)) * stretch;
      return to > from ? [{ outcome: layer.key, y: 100 - (100 - y(to)) * stretch, height }] : [];
    });
  });
};

export const ranges = {
  '24h': { unit: 'hour', unitMs: hourMs, steps: 24, words: 'the last 24 hours' },
  '30d': { unit: 'day', unitMs: dayMs, steps: 30, words: 'the last 30 days' },
} as const;
export type RangeName = keyof typeof ranges;

export const rangeOf = (text: string | null): RangeName => (text === '30d' ? '30d' : '24h');

export const firstBegin = (range: RangeName, now: Date): Date => {
  const { unitMs, steps } = ranges[range];
  const last = Math.floor(now.getTime() / unitMs) * unitMs;
  return new Date(last - (steps - 1) * unitMs);
};

export const columnsOf = (
  sums: readonly UsageSum[],
  range: RangeName,
  now: Date,
): readonly Column[] => {
  const { unitMs, steps } = ranges[range];
  const first = firstBegin(range, now).getTime();
  const byBegin = Map.groupBy(sums, ({ begin }) => begin.getTime());
  return Array.from({ length: steps }, (_, index) => {
    const begin = first + index * unitMs;
    const found = byBegin.get(begin);
    const countOf = (outcome: UsageOutcome) =>
      found?.find((one) => one.outcome === outcome)?.requests ?? 0;
    return { begin: new Date(begin), requests: byOutcome(countOf) };
  });
};

export const todayOf = (columns: readonly Column[], now: Date): Column['requests'] => {
  const day = now.toISOString().slice(0, 10);
  return added(columns.filter(({ begin }) => begin.toISOString().startsWith(day)));
};

export const added = (columns: readonly Column[]): Column['requests'] =>
  byOutcome((outcome) => columns.reduce((sum, { requests }) => sum + requests[outcome], 0));

const byOutcome = (countOf: (outcome: UsageOutcome) => number): Column['requests'] =>
  Object.fromEntries(
    usageOutcomes.map((outcome) => [outcome, countOf(outcome)]),
  ) as Column['requests'];

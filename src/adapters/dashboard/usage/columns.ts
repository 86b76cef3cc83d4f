import { usageOutcomes, type UsageOutcome, type UsageSum } from '../../../access/ports.ts';
import type { Column } from './chart.ts';

/** The ranges and steps that the page offers. */
export const ranges = {
  '24h': { unit: 'hour', unitMs: 3_600_000, steps: 24, words: 'the last 24 hours' },
  '30d': { unit: 'day', unitMs: 86_400_000, steps: 30, words: 'the last 30 days' },
} as const;
export type RangeName = keyof typeof ranges;

export const rangeOf = (text: string | null): RangeName => (text === '30d' ? '30d' : '24h');

/** Begin of the first hour or day shown; the last one is that of now. */
export const firstBegin = (range: RangeName, now: Date): Date => {
  const { unitMs, steps } = ranges[range];
  const last = Math.floor(now.getTime() / unitMs) * unitMs;
  return new Date(last - (steps - 1) * unitMs);
};

/** One column for every hour or day up to now, those without requests too. */
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

/** Those that begin today, added up. */
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

import { usageOutcomes, type UsageOutcome, type UsageSum } from '../../../access/usage-ports.ts';
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
    return { begin: new Date(begin), requests: byOutcome(byBegin.get(begin) ?? []) };
  });
};

/** Those that begin today, added up. */
export const todayOf = (
  columns: readonly Column[],
  now: Date,
): Readonly<Record<UsageOutcome, number>> => {
  const day = now.toISOString().slice(0, 10);
  const today = columns.filter(({ begin }) => begin.toISOString().startsWith(day));
  return added(today.map(({ requests }) => requests));
};

export const added = (
  all: readonly Readonly<Record<UsageOutcome, number>>[],
): Readonly<Record<UsageOutcome, number>> =>
  Object.fromEntries(
    usageOutcomes.map((outcome) => [outcome, all.reduce((sum, one) => sum + one[outcome], 0)]),
  ) as Record<UsageOutcome, number>;

const byOutcome = (sums: readonly UsageSum[]): Column['requests'] =>
  Object.fromEntries(
    usageOutcomes.map((outcome) => [
      outcome,
      sums.find((one) => one.outcome === outcome)?.requests ?? 0,
    ]),
  ) as Record<UsageOutcome, number>;

import { describe, expect, test } from '@jest/globals';
import { type UsageOutcome, usageOutcomes } from '../../../src/access/ports.ts';
import type { UsageSums } from '../../../src/access/use-cases/accounts.ts';
import {
  chartOf,
  type Column,
  columnsOf,
  firstBegin,
  rangeOf,
  stacking,
  todayOf,
  totalOf,
} from '../../../src/adapters/dashboard/usage/chart.ts';
import {
  namedBars,
  sentence,
  usageFigure,
  usageTable,
} from '../../../src/adapters/dashboard/usage/figure.ts';
import { usedToday } from '../../../src/adapters/dashboard/usage/screen.ts';

const now = new Date('2026-03-01T10:30:00Z');
const none = Object.fromEntries(usageOutcomes.map((one) => [one, 0])) as Column['requests'];
const column = (requests: Partial<Record<UsageOutcome, number>> = {}): Column => {
  return { begin: new Date('2026-03-01T10:00:00Z'), requests: { ...none, ...requests } };
};

describe('the usage chart', () => {
  test('stacks outcomes without gaps from the bottom, and refused ones last', () => {
    const requests = { '2xx': 50, '3xx': 5, '4xx': 20, '5xx': 5, refused: 20 };
    const [bar] = chartOf([column(requests)], undefined).bars;
    expect(bar?.parts.map(({ outcome }) => outcome)).toEqual([...stacking]);
    expect(stacking.at(-1)).toBe('refused');
    let bottom = 100;
    for (const { outcome, y, height } of bar?.parts ?? []) {
      expect(y + height).toBeCloseTo(bottom, 9);
      expect(height).toBeCloseTo(requests[outcome], 9);
      bottom = y;
    }
    expect(bottom).toBeCloseTo(0, 9);
  });

  test('omits outcomes that did not occur', () => {
    const [bar, other] = chartOf([column({ '4xx': 3 }), column()], undefined).bars;
    expect(bar?.parts.map(({ outcome }) => outcome)).toEqual(['4xx']);
    expect(other?.parts).toEqual([]);
  });

  test('draws bars side by side in order, without overlap', () => {
    const { bars } = chartOf(
      Array.from({ length: 30 }, () => column({ '2xx': 1 })),
      undefined,
    );
    const ends = bars.flatMap(({ x, width }) => [x, x + width]);
    expect(bars).toHaveLength(30);
    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
    expect(ends[0]).toBeGreaterThanOrEqual(0);
    expect(ends.at(-1)).toBeLessThanOrEqual(100);
  });

  test.each([1, 2, 3, 7, 19, 20, 999, 123_456, 1_000_000_000])(
    'labels its scale with whole numbers from zero, for a highest bar of %p',
    (highest) => {
      const { ticks, bars } = chartOf([column({ '2xx': highest })], undefined);
      const values = ticks.map(({ value }) => value);
      expect(values[0]).toBe(0);
      expect(values.every(Number.isInteger)).toBe(true);
      expect(values.length).toBeGreaterThanOrEqual(2);
      expect(values.length).toBeLessThanOrEqual(8);
      expect(values.at(-1)).toBeGreaterThanOrEqual(highest / 2);
      expect(ticks[0]?.y).toBe(100);
      expect(bars[0]?.parts[0]?.y).toBeGreaterThanOrEqual(0);
    },
  );

  test('has an axis but no bars when there is no data', () => {
    const { ticks, bars, limit } = chartOf([column(), column()], undefined);
    expect(ticks.map(({ value }) => value)).toEqual([0, 1]);
    expect(bars.flatMap(({ parts }) => parts)).toEqual([]);
    expect(limit).toBeUndefined();
    expect(chartOf([], undefined).bars).toEqual([]);
  });

  test('still shows a single request beside one giant bar, and keeps its parts in proportion', () => {
    const giant = column({ '2xx': 1_000_000 });
    const small = column({ '2xx': 3, refused: 1 });
    const [first, second] = chartOf([giant, small], 10).bars;
    expect(first?.parts[0]?.height).toBeCloseTo(100, 9);
    const [passed, refused] = second?.parts ?? [];
    expect((passed?.height ?? 0) + (refused?.height ?? 0)).toBeCloseTo(0.8, 9);
    expect(passed?.height).toBeCloseTo(3 * (refused?.height ?? 0), 9);
    expect((passed?.y ?? 0) + (passed?.height ?? 0)).toBeCloseTo(100, 9);
  });

  test('draws a limit to scale, however high, and only if there is one', () => {
    expect(chartOf([column({ '2xx': 249 })], undefined).limit).toBeUndefined();
    const far = chartOf([column({ '2xx': 1 })], 1000);
    expect(far.limit).toEqual({ value: 1000, y: 0 });
    const over = chartOf([column({ '2xx': 1000, refused: 1000 })], 1000);
    expect(over.limit).toEqual({ value: 1000, y: 50 });
    expect(over.bars[0]?.parts[0]?.y).toBe(50);
  });
});

describe('the columns of the chart', () => {
  test('are every hour of a day or every day of a month until now, including empty ones', () => {
    const hours = columnsOf([], '24h', now);
    expect(hours).toHaveLength(24);
    expect(hours[0]?.begin).toEqual(new Date('2026-02-28T11:00:00Z'));
    expect(hours.at(-1)?.begin).toEqual(new Date('2026-03-01T10:00:00Z'));
    const days = columnsOf([], '30d', now);
    expect(days).toHaveLength(30);
    expect(days[0]?.begin).toEqual(firstBegin('30d', now));
    expect(days[0]?.begin).toEqual(new Date('2026-01-31T00:00:00Z'));
    expect(days.at(-1)?.begin).toEqual(new Date('2026-03-01T00:00:00Z'));
    expect([...hours, ...days].map(totalOf).every((total) => total === 0)).toBe(true);
  });

  test('have the sums of their period, and today begins at midnight', () => {
    const sum = (begin: string, outcome: UsageOutcome, requests: number) => {
      return { begin: new Date(begin), outcome, requests };
    };
    const sums = [
      sum('2026-02-28T23:00:00Z', '2xx', 1),
      sum('2026-03-01T00:00:00Z', '2xx', 2),
      sum('2026-03-01T10:00:00Z', '2xx', 4),
      sum('2026-03-01T10:00:00Z', 'refused', 8),
    ];
    const columns = columnsOf(sums, '24h', now);
    expect(columns.at(-1)?.requests).toEqual({ ...none, '2xx': 4, refused: 8 });
    expect(columns.map(totalOf).filter((total) => total > 0)).toEqual([1, 2, 12]);
    expect(todayOf(columns, now)).toEqual({ ...none, '2xx': 6, refused: 8 });
  });

  test('show one day, unless thirty are requested', () => {
    expect([null, '', '24h', '7d', '30d'].map(rangeOf)).toEqual([
      '24h',
      '24h',
      '24h',
      '24h',
      '30d',
    ]);
  });

  test('are described in a sentence with the outcomes of the requests', () => {
    const mixed = column({ '2xx': 1200, refused: 34 });
    expect(sentence(mixed, '24h')).toBe(
      'Sun 1 Mar, 10:00–11:00: 1,234 requests; successful (2xx): 1,200, refused (429): 34',
    );
    expect(sentence(column({ '2xx': 1 }), '30d')).toBe('Sun 1 Mar: 1 request; successful (2xx): 1');
  });

  test('have labels at even distances, and fewer labels where space is short', () => {
    const hours = namedBars(columnsOf([], '24h', now), '24h');
    expect(hours.map(({ index }) => index)).toEqual([1, 4, 7, 10, 13, 16, 19, 22]);
    expect(hours.filter(({ isMinor }) => !isMinor)).toHaveLength(4);
    const days = namedBars(columnsOf([], '30d', now), '30d');
    expect(days.map(({ index }) => index)).toEqual([4, 9, 14, 19, 24, 29]);
    expect(days.filter(({ isMinor }) => !isMinor)).toHaveLength(3);
  });
});

const sums = (['2xx', '4xx', 'refused'] as const).map((outcome) => {
  return { begin: new Date('2026-03-01T00:00:00Z'), outcome, requests: 100 };
});
const figure = (range: '24h' | '30d') =>
  String(usageFigure({ columns: columnsOf(sums, range, now), range, perDay: 10_000 }));

describe('the chart by the day', () => {
  test('shows the daily quota, however little of it is used', () => {
    expect(figure('30d')).toContain('<line class="limit" x1="0" x2="100%" y1="0%" y2="0%"/>');
    expect(figure('30d')).toContain('quota: 10,000 a day');
    expect(figure('30d')).toMatch(/aria-label="[^"]*with a quota of 10,000 a day/);
  });
});

describe('the chart by the hour', () => {
  test('shows no limit, because no plan limits an hour', () => {
    expect(figure('24h')).not.toContain('class="limit"');
    expect(figure('24h')).not.toMatch(/limit of|quota|10,000/);
  });
});

test("today's use comes from the counter, or else from the stored requests that were not refused", () => {
  const window = { resetAt: now, used: 0 };
  const windows = {
    minute: { ...window, window: 'minute', limit: 300, remaining: 300 },
    day: { ...window, window: 'day', limit: 10_000, remaining: 9700 },
  } as unknown as UsageSums['windows'];
  const usage = { windows } as UsageSums;
  const facts = { usage, columns: columnsOf(sums, '24h', now), now };
  expect(usedToday({ ...facts, knowsCounts: true })).toBe(300);
  expect(usedToday({ ...facts, knowsCounts: false })).toBe(200);
});

test('every heading of the table has a scope', () => {
  const headings = String(usageTable(columnsOf(sums, '30d', now), '30d')).match(/<th\b[^>]*>/g);
  expect(headings).toHaveLength(2 + usageOutcomes.length + 30);
  expect(headings?.filter((one) => !one.includes('scope="'))).toEqual([]);
});

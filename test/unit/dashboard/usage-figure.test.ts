import { describe, expect, test } from '@jest/globals';
import { usageOutcomes } from '../../../src/access/usage-ports.ts';
import { columnsOf } from '../../../src/adapters/dashboard/usage/chart.ts';
import { usageFigure, usageTable } from '../../../src/adapters/dashboard/usage/figure.ts';
import { usedToday } from '../../../src/adapters/dashboard/usage/screen.ts';
import type { UsageSums } from '../../../src/access/use-cases/show-usage.ts';

const now = new Date('2026-03-01T10:30:00Z');
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

test("today's use is the counter, or else the stored requests that were not refused", () => {
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

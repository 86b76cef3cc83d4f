import { expect, test } from '@jest/globals';
import type { PlacedEntry, Timeline } from '../../../src/domains/ports.ts';
import { readTimeline, readWholeTimeline } from '../../../src/domains/use-cases/show-domain.ts';
import { after } from '../../support/domains/known-domains.ts';

const domain = { id: 'dom_1' };
const filled = (entries: number): { timeline: Timeline } => {
  const newestFirst = numbers(entries).map((n): PlacedEntry => ({
    place: BigInt(n),
    kind: 'checked',
    occurredAt: after(n),
    details: { n },
  }));
  const list = (_: string, limit: number, before = BigInt(entries)) =>
    Promise.resolve(newestFirst.filter(({ place }) => place < before).slice(0, limit));
  return { timeline: { list } };
};
const numbers = (from: number) => Array.from({ length: from }, (_, n) => from - 1 - n);

test.each([0, 1, 20, 21, 40, 147])('all of %i entries are read page by page', async (entries) => {
  const ports = filled(entries);
  const found: unknown[] = [];
  let pages = 0;
  for (let before: bigint | undefined; ; pages++) {
    const page = await readTimeline(ports)(domain, before);
    expect(page.entries.length).toBeLessThanOrEqual(20);
    found.push(...page.entries.map(({ details }) => details['n']));
    if (page.older === undefined) break;
    before = page.older;
  }
  expect(found).toEqual(numbers(entries));
  // No page is empty but the only one.
  expect(pages).toBe(Math.max(0, Math.ceil(entries / 20) - 1));
});

test('the whole timeline is read, even when it is longer than a page', async () => {
  const whole = await readWholeTimeline(filled(147))(domain);
  expect(whole.map(({ details }) => details['n'])).toEqual(numbers(147));
});

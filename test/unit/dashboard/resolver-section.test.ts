import { expect, test } from '@jest/globals';
import { resolverSection } from '../../../src/adapters/dashboard/domains/diagnostics.ts';
import type { ResolverSummary } from '../../../src/domains/domain/dns/report.ts';
import { elementsIn } from '../../support/dashboard/markup.ts';
import { after, badReport, minute, start } from '../../support/domains/known-domains.ts';

const answer = (last: number, known: Partial<ResolverSummary> = {}): ResolverSummary => ({
  resolver: `192.0.2.${last}`,
  tookMs: last,
  seen: 'CNAME elsewhere.test',
  ttl: last * 60,
  agrees: false,
  ...known,
});

const rowsOf = (...resolvers: readonly ResolverSummary[]): readonly string[] => {
  const report = { ...badReport(start), resolvers };
  const markup = resolverSection(report, after(minute)).toString();
  const [, ...rows] = elementsIn(markup, 'tr').map(({ text }) => text);
  return rows;
};

test('resolvers with equal answers share a row, with the longest wait among them', () => {
  expect(rowsOf(answer(1), answer(5), answer(3))).toEqual([
    'All 3 resolvers 192.0.2.1 192.0.2.5 192.0.2.3 CNAME elsewhere.test no in 4 minutes up to 5 ms',
  ]);
});

test('when one answer differs, each resolver has its own row', () => {
  const right = answer(2, { seen: 'CNAME here.test', agrees: true, ttl: undefined });
  expect(rowsOf(answer(1), right, answer(3))).toEqual([
    '192.0.2.1 CNAME elsewhere.test no expired 1 ms',
    '192.0.2.2 CNAME here.test yes unknown 2 ms',
    '192.0.2.3 CNAME elsewhere.test no in 2 minutes 3 ms',
  ]);
});

test('a single answer is not a group', () => {
  expect(rowsOf(answer(5))).toEqual(['192.0.2.5 CNAME elsewhere.test no in 4 minutes 5 ms']);
});

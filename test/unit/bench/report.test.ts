import { expect, test } from '@jest/globals';
import { atLeast, atMost, printedTargets, target } from '../../../bench/report.ts';

test('a measurement that equals its target meets it', () => {
  expect(target('lists', 0.85, atLeast(0.85)).isMet).toBe(true);
  expect(target('lists', 0.849, atLeast(0.85)).isMet).toBe(false);
  expect(target('memory', 130, atMost(130, 'MB')).isMet).toBe(true);
  expect(target('memory', 130.1, atMost(130, 'MB')).isMet).toBe(false);
});

test('a missing measurement meets no target', () => {
  expect(target('lists', NaN, atLeast(0)).isMet).toBe(false);
  expect(target('memory', NaN, atMost(130, 'MB')).isMet).toBe(false);
});

test('the table of a run names the missed targets', () => {
  const targets = [target('lists', 0.9, atLeast(0.85)), target('memory', 178, atMost(160, 'MB'))];
  expect(printedTargets(targets).split('\n')).toEqual([
    'target  wanted          seen',
    'lists   at least 0.85   0.90    met',
    'memory  at most 160 MB  178 MB  MISSED',
    '',
    '1 of 2 targets missed:',
    '  memory',
    '',
  ]);
});

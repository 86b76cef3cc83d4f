import { expect, test } from '@jest/globals';
import { inWords } from '../../../src/kernel/text.ts';

test.each([
  [-5, '1 second'],
  [1, '1 second'],
  [1001, '2 seconds'],
  [119_000, '119 seconds'],
  [119_001, '2 minutes'],
  [29 * 60_000 + 1, '30 minutes'],
  [119 * 60_000, '119 minutes'],
  [119 * 60_000 + 1, '2 hours'],
  [25 * 3_600_000, '25 hours'],
])('%d milliseconds are %s', (milliseconds, words) => {
  expect(inWords(milliseconds)).toBe(words);
});

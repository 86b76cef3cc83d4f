import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openFuzzField, type FuzzField } from '../fuzz/fuzz-field.ts';
import { showCase } from '../fuzz/reproduce.ts';
import { runFuzz } from '../fuzz/run-fuzz.ts';

// `make fuzz` is the long form, and finds the smallest case that leads to a finding.
const requests = 1500;

let field: FuzzField;
beforeAll(async () => {
  field = await openFuzzField(12);
});
afterAll(() => field.close());

test.each([
  ['with a fixed seed', 20_261_122],
  ['with a new seed', randomInt(2 ** 31)],
])(
  'arbitrary requests and DNS answers %s, with the seed %i, harm neither the service nor another account',
  async (_, seed) => {
    const { finding, tally } = await runFuzz(field, { seed, requests });
    const found = finding && `${finding.what}\n${finding.cases.slice(-3).map(showCase).join('\n')}`;
    expect({ seed, found }).toEqual({ seed, found: undefined });
    expect(tally.requests).toBeGreaterThanOrEqual(requests);
  },
);

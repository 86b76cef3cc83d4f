import { randomInt } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { fuzzPackets } from '../../fuzz/dns-packets.ts';

// `make fuzz` sends a million.
const packets = 2000;
const chosen = 20_261_123;

test.each([
  ['that were chosen once', chosen],
  ['that are new each time', randomInt(2 ** 31)],
])(
  'packets of any form %s, with the seed %i, get at most one answer of a bounded size, and nothing throws',
  async (_, seed) => {
    const { finding } = await fuzzPackets(seed, packets);
    expect({ seed, finding }).toEqual({ seed, finding: undefined });
  },
);

test('every kind of answer is among them', async () => {
  const { tally } = await fuzzPackets(chosen, packets);
  expect([...tally.codes.keys()].toSorted((a, b) => a - b)).toEqual([0, 1, 3, 4, 5]);
  expect(tally.truncated).toBeGreaterThan(0);
});

import { randomInt } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { fuzzPackets } from '../../fuzz/dns-packets.ts';

// `make fuzz` sends a million.
const packets = 10_000;

test.each([
  ['that were chosen once', 20_261_123],
  ['that are new each time', randomInt(2 ** 31)],
])(
  'packets of any form %s, with the seed %i, get at most one answer of a bounded size, and nothing throws',
  async (_, seed) => {
    const { finding, tally } = await fuzzPackets(seed, packets);
    expect({ seed, finding }).toEqual({ seed, finding: undefined });
    // Every kind of answer is among them.
    expect([...tally.codes.keys()].toSorted((a, b) => a - b)).toEqual([0, 1, 3, 4, 5]);
    expect(tally.truncated).toBeGreaterThan(0);
  },
);

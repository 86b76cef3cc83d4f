import { describe, expect, test } from '@jest/globals';
import { NetworkUsages } from '../../../src/adapters/edge/edge-limits.ts';

describe('what networks hold', () => {
  test('is counted by network, until its last connection ends', () => {
    const held = new NetworkUsages();
    const first = held.joined('a');
    first.answers += 1;
    expect(held.joined('a')).toBe(first);
    expect(held.joined('b')).toEqual({ answers: 0, bytes: 0 });
    expect([held.connectionsOf('a'), held.connectionsOf('b')]).toEqual([2, 1]);
    held.left('a');
    expect([held.connectionsOf('a'), held.joined('a').answers]).toEqual([1, 1]);
    for (let connections = 2; connections > 0; connections--) held.left('a');
    expect([held.connectionsOf('a'), held.joined('a').answers]).toEqual([0, 0]);
  });

  test('is zero for an unknown network', () => {
    const held = new NetworkUsages();
    held.left('a');
    expect([held.connectionsOf('a'), held.all]).toEqual([0, { answers: 0, bytes: 0 }]);
  });
});

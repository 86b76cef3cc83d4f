import { describe, expect, test } from '@jest/globals';
import { HeldByNetwork } from '../../../src/adapters/edge/held.ts';
import { OpenConnections } from '../../../src/adapters/edge/open-connections.ts';

describe('open connections', () => {
  test('are listed until they are removed, in any order and only once', () => {
    const open = new OpenConnections<{ at: number }>();
    const [a, b, c] = [{ at: 0 }, { at: 0 }, { at: 0 }];
    for (const one of [a, b, c]) open.add(one);
    expect([open.count, new Set(open)]).toEqual([3, new Set([a, b, c])]);
    open.remove(a);
    open.remove(a);
    expect([...open]).toEqual([c, b]);
    expect([...open][0]).toBe(c);
    open.remove(b);
    open.add(a);
    expect([open.count, [...open][1] === a]).toEqual([2, true]);
    for (const one of [c, a, b]) open.remove(one);
    expect([open.count, ...open]).toEqual([0]);
  });
});

describe('what networks hold', () => {
  test('is counted by network, until its last connection ends', () => {
    const held = new HeldByNetwork();
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
    const held = new HeldByNetwork();
    held.left('a');
    expect([held.connectionsOf('a'), held.all]).toEqual([0, { answers: 0, bytes: 0 }]);
  });
});

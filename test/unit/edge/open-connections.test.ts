import { EventEmitter } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { HeldByNetwork } from '../../../src/adapters/edge/held.ts';
import { OpenConnections } from '../../../src/adapters/edge/open-connections.ts';

class Line extends EventEmitter {
  bytesRead = 0;
  destroyed = false;

  /** As a socket does, it tells later. */
  destroy(): void {
    this.destroyed = true;
    queueMicrotask(() => this.emit('close'));
  }
}

const destroyed = (...lines: readonly Line[]): readonly boolean[] =>
  lines.map((line) => line.destroyed);

describe('open connections', () => {
  test('are ended by their owner, and then forgotten', async () => {
    const open = new OpenConnections();
    const [a, b, other] = [new Line(), new Line(), new Line()];
    open.add('rex.test', a);
    open.add('rex.test', b);
    open.add('tom.test', other);
    expect([open.count, open.of('rex.test').length, open.of('tom.test').length]).toEqual([3, 2, 1]);
    open.destroy('rex.test');
    await Promise.resolve();
    expect(destroyed(a, b, other)).toEqual([true, true, false]);
    expect([open.count, open.of('rex.test').length, open.of('tom.test').length]).toEqual([1, 0, 1]);
    open.destroy('unknown.test');
    expect(open.count).toBe(1);
  });

  test('that close by themselves are forgotten', () => {
    const open = new OpenConnections();
    const [a, b] = [new Line(), new Line()];
    open.add('rex.test', a);
    open.add('rex.test', b);
    a.emit('close');
    expect([open.count, open.of('rex.test').length]).toEqual([1, 1]);
    b.emit('close');
    expect([open.count, open.of('rex.test').length]).toEqual([0, 0]);
  });

  test('that open after an end are not confused with the ended ones', async () => {
    const open = new OpenConnections();
    const [before, after] = [new Line(), new Line()];
    open.add('rex.test', before);
    open.destroy('rex.test');
    open.add('rex.test', after);
    await Promise.resolve();
    expect([open.count, open.of('rex.test').length]).toEqual([1, 1]);
    open.destroy('rex.test');
    expect(after.destroyed).toBe(true);
  });

  test('that are idle can be ended without the others, or all can be ended', () => {
    const open = new OpenConnections();
    const [unused, used] = [new Line(), new Line()];
    used.bytesRead = 1;
    open.add('rex.test', unused);
    open.add('tom.test', used);
    open.destroyUnused();
    expect(destroyed(unused, used)).toEqual([true, false]);
    open.destroyAll();
    expect(destroyed(unused, used)).toEqual([true, true]);
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

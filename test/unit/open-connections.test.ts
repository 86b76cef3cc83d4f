import { EventEmitter } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { ConnectionLimit } from '../../src/adapters/edge/connection-limit.ts';
import { OpenConnections } from '../../src/adapters/edge/open-connections.ts';

class Line extends EventEmitter {
  readonly remoteAddress: string | undefined;
  bytesRead = 0;
  destroyed = false;

  constructor(remoteAddress?: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  /** As a socket does, it tells later. */
  destroy(): void {
    this.destroyed = true;
    queueMicrotask(() => this.emit('close'));
  }
}

const destroyed = (...lines: readonly Line[]): readonly boolean[] =>
  lines.map((line) => line.destroyed);

describe('open connections', () => {
  test('are ended by what they belong to, and then forgotten', async () => {
    const open = new OpenConnections();
    const [a, b, other] = [new Line(), new Line(), new Line()];
    open.add('rex.test', a);
    open.add('rex.test', b);
    open.add('tom.test', other);
    expect([open.count, open.countOf('rex.test'), open.countOf('tom.test')]).toEqual([3, 2, 1]);
    open.destroy('rex.test');
    await Promise.resolve();
    expect(destroyed(a, b, other)).toEqual([true, true, false]);
    expect([open.count, open.countOf('rex.test'), open.countOf('tom.test')]).toEqual([1, 0, 1]);
    open.destroy('unknown.test');
    expect(open.count).toBe(1);
  });

  test('that close by themselves are forgotten', () => {
    const open = new OpenConnections();
    const [a, b] = [new Line(), new Line()];
    open.add('rex.test', a);
    open.add('rex.test', b);
    a.emit('close');
    expect([open.count, open.countOf('rex.test')]).toEqual([1, 1]);
    b.emit('close');
    expect([open.count, open.countOf('rex.test')]).toEqual([0, 0]);
  });

  test('that were opened after an end are not mixed up with those that end', async () => {
    const open = new OpenConnections();
    const [before, after] = [new Line(), new Line()];
    open.add('rex.test', before);
    open.destroy('rex.test');
    open.add('rex.test', after);
    await Promise.resolve();
    expect([open.count, open.countOf('rex.test')]).toEqual([1, 1]);
    open.destroy('rex.test');
    expect(after.destroyed).toBe(true);
  });

  test('over which nothing came are ended without the others, or all of them', () => {
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

describe('the limit of connections', () => {
  test('is one per address', () => {
    const limit = new ConnectionLimit(new OpenConnections(), 2);
    const lines = ['a', 'a', 'b', 'a', 'b', 'b'].map((address) => new Line(address));
    for (const line of lines) limit.admit(line);
    expect(destroyed(...lines)).toEqual([false, false, false, true, false, true]);
  });

  test('has room again when one is closed, and a refused one makes none', async () => {
    const limit = new ConnectionLimit(new OpenConnections(), 1);
    const [first, refused, second] = [new Line('a'), new Line('a'), new Line('a')];
    limit.admit(first);
    limit.admit(refused);
    await Promise.resolve();
    expect(destroyed(first, refused)).toEqual([false, true]);
    first.emit('close');
    limit.admit(second);
    expect(second.destroyed).toBe(false);
  });

  test('counts those who are gone already as one address', () => {
    const limit = new ConnectionLimit(new OpenConnections(), 1);
    const [first, second] = [new Line(), new Line()];
    limit.admit(first);
    limit.admit(second);
    expect(destroyed(first, second)).toEqual([false, true]);
  });
});

import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { afterEach, expect, jest, test } from '@jest/globals';
import { frameOf, LiveViewer } from '../../../src/adapters/dashboard/frame/live-viewer.ts';
import type { SignedIn } from '../../../src/access/people-ports.ts';

const large = frameOf(`<main>${'x'.repeat(100_000)}</main>`);

let viewer: LiveViewer;
const openViewer = (): LiveViewer => {
  const ports = {
    lookUp: () => Promise.resolve(undefined),
    newId: () => 'form_1',
    chance: () => 0,
  };
  viewer = new LiveViewer({} as SignedIn, ports);
  viewer.show(large);
  return viewer;
};
afterEach(() => {
  viewer.stream.destroy();
  jest.useRealTimers();
});

test('a viewer that has to make room before the page has reached it receives the page and when to come back', async () => {
  const { stream } = openViewer();
  viewer.later(30);
  const received = await text(stream);
  expect(received).toContain('x'.repeat(100_000));
  expect(received).toMatch(/event: later\ndata: 30\n\n$/);
});

test('a viewer that is told twice that it is over is told once, and not cut off', async () => {
  const { stream } = openViewer();
  viewer.later(30);
  viewer.over();
  expect(await text(stream)).toMatch(/event: later\ndata: 30\n\n$/);
});

test('a viewer that does not read what was left at the end is cut off', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const { stream } = openViewer();
  viewer.end();
  expect(stream.destroyed).toBe(false);
  const closed = once(stream, 'close');
  jest.advanceTimersByTime(1000);
  await closed;
});

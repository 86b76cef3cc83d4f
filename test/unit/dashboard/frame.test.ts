import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { SignedIn } from '../../../src/access/people-ports.ts';
import { html } from '../../../src/adapters/dashboard/frame/html.ts';
import { placeIn } from '../../../src/adapters/dashboard/frame/list-parts.ts';
import { frameOf, LiveViewer } from '../../../src/adapters/dashboard/frame/live-viewer.ts';
import { day, fullTime, planned, time } from '../../../src/adapters/dashboard/frame/parts.ts';
import {
  isFromElsewhere,
  isFromOurPage,
} from '../../../src/adapters/dashboard/frame/same-origin.ts';
import { inWords, inWordsWithDate } from '../../../src/adapters/dashboard/frame/time-words.js';
import { from, knownTimes } from '../../support/known-times.ts';

const marks = [
  ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'],
  ...['\u2066', '\u2067', '\u2068', '\u2069'],
];

test.each(marks)(
  'a character that changes the direction of text (%j) is not shown on any page',
  (mark) => {
    const name = `shop${mark}live`;
    const page = html`<p title="${name}">${name} ${[name, [html`<b>${name}</b>`]]}</p>`;
    expect(page.toString()).toBe(
      '<p title="shop\u{fffd}live">shop\u{fffd}live shop\u{fffd}live<b>shop\u{fffd}live</b></p>',
    );
  },
);

test('letters of right-to-left scripts stay as they are', () => {
  expect(html`<p>${'\u05d0\u05d1 \u0627'}</p>`.toString()).toBe('<p>\u05d0\u05d1 \u0627</p>');
});

test('the place in a list, which each row repeats, leaves out values that no page of ours has', () => {
  const query = new URLSearchParams({ q: 'x'.repeat(501), after: 'key_1', other: 'x' });
  expect(placeIn(query, ['q', 'after'])).toBe('?after=key_1');
});

test.each(knownTimes)('a time %d ms away is "%s"', (ms, words, date) => {
  const at = new Date(from.getTime() + ms);
  expect(inWords(at, from)).toBe(words);
  expect(inWordsWithDate(at, from)).toBe(date === '' ? words : `${words}, ${date}`);
});

const at = new Date('2026-04-30T12:34:56Z');

test('a relative time has the exact time as its tooltip, and next to it in detail views', () => {
  expect(String(time(at, from))).toMatch(
    /title="2026-04-30 12:34:56 UTC".*>in 60 days, 30 Apr 2026</,
  );
  expect(String(fullTime(at, from))).toMatch(
    />in 60 days<.*<small>.*>2026-04-30 12:34:56 UTC<\/time><\/small>/,
  );
});

test('a planned event whose time has passed is shown as due any moment', () => {
  for (const ms of [-59_000, 0, 400]) {
    expect(String(planned(new Date(from.getTime() + ms), from))).toContain('>any moment<');
  }
  expect(String(planned(new Date(from.getTime() + 2000), from))).toContain('>in 2 seconds<');
});

test('a day is written as in all other times', () => {
  expect(String(day(at))).toContain('>30 Apr 2026</time>');
});

const configured = 'https://store.example';
const request = (headers: Readonly<Record<string, string>>, host: string) => ({
  get: (name: string) => headers[name] ?? '',
  host,
});

describe('a form from a browser that sends only its origin', () => {
  test.each([
    ['https://store.example', 'store.example'],
    ['https://store.example', '10.0.0.7:3000'],
    ['https://alias.example', 'alias.example'],
  ])('is accepted from %s, sent to %s', (origin, host) => {
    expect(isFromOurPage(request({ Origin: origin }, host), configured)).toBe(true);
  });

  test.each([
    ['http://store.example', 'store.example'],
    ['http://alias.example', 'alias.example'],
    ['https://store.example:8443', 'store.example'],
    ['null', 'store.example'],
  ])('is refused from %s, sent to %s', (origin, host) => {
    expect(isFromOurPage(request({ Origin: origin }, host), configured)).toBe(false);
  });
});

test('a link from a page with the other scheme counts as coming from elsewhere', () => {
  const from = (referrer: string) => request({ Referer: referrer }, 'store.example');
  expect(isFromElsewhere(from('http://store.example/x'), configured)).toBe(true);
  expect(isFromElsewhere(from('https://store.example/x'), configured)).toBe(false);
});

const large = frameOf(`<main>${'x'.repeat(100_000)}</main>`);

describe('a viewer of a live page', () => {
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

  test('still receives the page and when to come back if it must make room before its page arrived', async () => {
    const { stream } = openViewer();
    viewer.later(30);
    const received = await text(stream);
    expect(received).toContain('x'.repeat(100_000));
    expect(received).toMatch(/event: later\ndata: 30\n\n$/);
  });

  test('receives only one message if it is ended twice, and is not cut off', async () => {
    const { stream } = openViewer();
    viewer.later(30);
    viewer.over();
    expect(await text(stream)).toMatch(/event: later\ndata: 30\n\n$/);
  });

  test('is cut off at the end if it does not read the rest', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const { stream } = openViewer();
    viewer.end();
    expect(stream.destroyed).toBe(false);
    const closed = once(stream, 'close');
    jest.advanceTimersByTime(1000);
    await closed;
  });
});

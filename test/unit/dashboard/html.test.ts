import { expect, test } from '@jest/globals';
import { html } from '../../../src/adapters/dashboard/frame/html.ts';

const marks = [
  ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'],
  ...['\u2066', '\u2067', '\u2068', '\u2069'],
];

test.each(marks)('a mark that changes the direction of text (%j) reaches no page', (mark) => {
  const name = `shop${mark}live`;
  const page = html`<p title="${name}">${name} ${[name, [html`<b>${name}</b>`]]}</p>`;
  expect(page.toString()).toBe(
    '<p title="shop\u{fffd}live">shop\u{fffd}live shop\u{fffd}live<b>shop\u{fffd}live</b></p>',
  );
});

test('letters that are written from right to left stay as they are', () => {
  expect(html`<p>${'\u05d0\u05d1 \u0627'}</p>`.toString()).toBe('<p>\u05d0\u05d1 \u0627</p>');
});

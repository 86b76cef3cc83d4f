import { describe, expect, test } from '@jest/globals';
import {
  isFromElsewhere,
  isFromOurPage,
} from '../../../src/adapters/dashboard/frame/same-origin.ts';

const configured = 'https://store.example';
const request = (headers: Readonly<Record<string, string>>, host: string) => ({
  get: (name: string) => headers[name] ?? '',
  host,
});

describe('a form of a browser that only sends its origin', () => {
  test.each([
    ['https://store.example', 'store.example'],
    // Behind a proxy, or by another name.
    ['https://store.example', '10.0.0.7:3000'],
    ['https://alias.example', 'alias.example'],
  ])('is ours from %s, asked at %s', (origin, host) => {
    expect(isFromOurPage(request({ Origin: origin }, host), configured)).toBe(true);
  });

  test.each([
    // Somebody on the network may have written that page.
    ['http://store.example', 'store.example'],
    ['http://alias.example', 'alias.example'],
    ['https://store.example:8443', 'store.example'],
    ['null', 'store.example'],
  ])('is not ours from %s, asked at %s', (origin, host) => {
    expect(isFromOurPage(request({ Origin: origin }, host), configured)).toBe(false);
  });
});

test('a link from a page with the other scheme comes from elsewhere', () => {
  const from = (referrer: string) => request({ Referer: referrer }, 'store.example');
  expect(isFromElsewhere(from('http://store.example/x'), configured)).toBe(true);
  expect(isFromElsewhere(from('https://store.example/x'), configured)).toBe(false);
});

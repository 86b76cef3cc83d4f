import { describe, expect, test } from '@jest/globals';
import { headersWithoutContent, ServedFile } from '../../../src/adapters/edge/served-file.ts';
import type { StoredFile } from '../../../src/sites/ports.ts';

const stored = (path: string, forms: Partial<StoredFile> = {}): StoredFile => ({
  path,
  bytes: 1000,
  hash: 'hash',
  brotli: undefined,
  gzip: undefined,
  ...forms,
});
const both = { brotli: 300, gzip: 400 };

const paired = (headers: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: headers.length / 2 }, (_, at) => [headers[2 * at], headers[2 * at + 1]]),
  ) as Record<string, string>;
const headersOf = (path: string) => paired(new ServedFile(stored(path)).forms.identity?.headers);

describe('a served file', () => {
  test('has all stored encodings, each with its size and ETag', () => {
    const { forms } = new ServedFile(stored('a.html', both));
    const told = Object.values(forms).map(({ encoding, bytes, etag, headers }) => {
      const { 'Content-Length': length, ETag, 'Content-Encoding': coding } = paired(headers);
      return [encoding, bytes, etag, length, ETag, coding];
    });
    expect(told).toEqual([
      ['identity', 1000, '"hash"', '1000', '"hash"', undefined],
      ['br', 300, '"hash-br"', '300', '"hash-br"', 'br'],
      ['gzip', 400, '"hash-gzip"', '400', '"hash-gzip"', 'gzip'],
    ]);
    expect(Object.keys(new ServedFile(stored('a.html')).forms)).toEqual(['identity']);
  });

  test('names every header once', () => {
    for (const { headers } of Object.values(new ServedFile(stored('a.html', both)).forms)) {
      const names = headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
      expect(new Set(names).size).toBe(names.length);
      expect(headers.length % 2).toBe(0);
    }
  });

  test('has a Vary header when it has several encodings', () => {
    for (const form of Object.values(new ServedFile(stored('a.html', both)).forms)) {
      expect(paired(form.headers)['Vary']).toBe('Accept-Encoding');
    }
    expect(headersOf('a.html')).not.toHaveProperty('Vary');
  });

  test('sends all headers without content to clients that already have it', () => {
    for (const form of Object.values(new ServedFile(stored('a.html', both)).forms)) {
      const {
        'Content-Type': _type,
        'Content-Length': _length,
        'Content-Encoding': _encoding,
        ...rest
      } = paired(form.headers);
      expect(paired(headersWithoutContent(form))).toEqual(rest);
    }
  });

  test.each([
    ['index.html', 'text/html; charset=utf-8'],
    ['a/b.mjs', 'text/javascript; charset=utf-8'],
    ['feed.xml', 'application/xml'],
    ['site.webmanifest', 'application/manifest+json; charset=utf-8'],
    ['a.PNG', 'image/png'],
    ['a.tar.gz', 'application/gzip'],
    ['html', 'application/octet-stream'],
    ['a.html/b', 'application/octet-stream'],
    ['a.', 'application/octet-stream'],
    ['a.nothing', 'application/octet-stream'],
    ['text/html', 'application/octet-stream'],
  ])('%s has the type %s', (path, type) => {
    expect(headersOf(path)['Content-Type']).toBe(type);
  });

  test.each([
    'app-3f9a1c07.js',
    'assets/index.3f9a1c07d2e4b5a6.css',
    'a-7ZGFKQ3H.mjs',
    'main.3f9a1c07.woff2',
    'a.b-3f9a1c07.woff',
  ])('%s is cached forever: its name identifies its content', (path) => {
    expect(headersOf(path)['Cache-Control']).toBe('public, max-age=31536000, immutable');
  });

  test.each([
    'index.html',
    'page-3f9a1c07.html',
    'app.js',
    'app-framework2.js',
    'bootstrap.bundle5.css',
    'jquery-3.7.1.min.js',
    'app-20260301.js',
    'app-deadbeef.js',
    'app-VERSIONS.js',
    'app-3f9a1c0.js',
    'app3f9a1c07.js',
    '3f9a1c07.js',
    'app-3f9a1c07.js.map',
    'app-3F9a1c07d.js',
  ])('%s is revalidated each time', (path) => {
    expect(headersOf(path)['Cache-Control']).toBe('public, max-age=0, must-revalidate');
  });
});

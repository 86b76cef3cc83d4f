import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  encodingFor,
  isKnown,
  isNamed,
  portionOf,
} from '../../../src/adapters/edge/served-file.ts';

const file = { path: 'a.html', bytes: 1000, hash: 'h', brotli: 300, gzip: 400 };

describe('the encoding that is sent', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['x-gzip', 'identity'],
    ['gzip, br', 'br'],
    ['gzip;q=1, br;q=0.001', 'br'],
    ['gzip, br;q=0', 'gzip'],
    ['gzip, br;q=0.0', 'gzip'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['*;q=0, br', 'br'],
    ['br;q=0, *;q=0.5', 'gzip'],
    ['identity;q=0', 'identity'],
    ['identity;q=0, gzip', 'gzip'],
  ])('to a client that accepts "%s" is %s', (accepted, encoding) => {
    expect(encodingFor(file, accepted)).toBe(encoding);
    expect(encodingFor(file, accepted)).toBe(encoding);
  });

  test('is one that the file has', () => {
    const all = 'br, gzip, deflate, zstd';
    expect(encodingFor({ ...file, brotli: undefined }, all)).toBe('gzip');
    expect(encodingFor({ ...file, gzip: undefined }, all)).toBe('br');
    expect(encodingFor({ ...file, gzip: undefined }, 'gzip')).toBe('identity');
    expect(encodingFor({ ...file, brotli: undefined, gzip: undefined }, all)).toBe('identity');
  });

  test('is correct for any header, even beyond the number of remembered ones', () => {
    fc.assert(
      fc.property(fc.string(), (accepted) => {
        expect(['br', 'gzip', 'identity']).toContain(encodingFor(file, accepted));
      }),
    );
    const others = Array.from({ length: 1100 }, (_, n) => encodingFor(file, `gzip, other-${n}`));
    expect(new Set(others)).toEqual(new Set(['gzip']));
    expect(encodingFor(file, 'gzip;q=0.123')).toBe('gzip');
  });
});

describe('the portion that is sent', () => {
  const whole = { kind: 'whole' };
  const part = (first: number, last: number) => ({ kind: 'part', first, last });
  const unsatisfiable = { kind: 'unsatisfiable' };

  test.each([
    ['bytes=0-0', part(0, 0)],
    ['bytes=0-9', part(0, 9)],
    ['bytes=0-', part(0, 9)],
    ['bytes=9-', part(9, 9)],
    ['bytes=3-100', part(3, 9)],
    ['bytes=-1', part(9, 9)],
    ['bytes=-10', part(0, 9)],
    ['bytes=-11', part(0, 9)],
    ['BYTES=1-2', part(1, 2)],
    ['bytes=10-', unsatisfiable],
    ['bytes=10-20', unsatisfiable],
    ['bytes=-0', unsatisfiable],
    ['bytes=2-1', whole],
    ['bytes=20-10', whole],
    ['bytes=-', whole],
    ['bytes=', whole],
    ['bytes=1', whole],
    ['bytes=0-0,2-2', whole],
    ['bytes=a-b', whole],
    ['bytes=1.0-2', whole],
    ['bytes=0x1-2', whole],
    ['bytes=--1', whole],
    ['bytes 0-1', whole],
    ['items=0-1', whole],
    ['', whole],
  ])('of ten bytes for "%s" is correct', (range, portion) => {
    expect(portionOf(10, '"e"', range, undefined)).toEqual(portion);
  });

  test('of an empty file is empty', () => {
    for (const range of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) {
      expect(portionOf(0, '"e"', range, undefined)).toEqual(unsatisfiable);
    }
    expect(portionOf(0, '"e"', undefined, undefined)).toEqual(whole);
  });

  test('requires the named version, by strong comparison', () => {
    expect(portionOf(10, '"e"', 'bytes=1-2', '"e"')).toEqual(part(1, 2));
    for (const other of ['W/"e"', '"f"', 'e', '', '*', 'Sat, 21 Nov 2026 10:00:00 GMT']) {
      expect(portionOf(10, '"e"', 'bytes=1-2', other)).toEqual(whole);
    }
  });

  test('lies within the file, whatever range is requested', () => {
    const number = fc.oneof(fc.constant(''), fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.nat(20));
    fc.assert(
      fc.property(fc.nat(20), number, number, (bytes, from, to) => {
        const portion = portionOf(bytes, '"e"', `bytes=${String(from)}-${String(to)}`, undefined);
        if (portion.kind !== 'part') return;
        expect(portion.first).toBeGreaterThanOrEqual(0);
        expect(portion.last).toBeGreaterThanOrEqual(portion.first);
        expect(portion.last).toBeLessThan(bytes);
      }),
    );
  });
});

test('a version matches when it is among the named ones, by weak comparison', () => {
  for (const condition of ['"e"', 'W/"e"', '*', ' * ', '"a", "e"', '"a",W/"e" ,"b"']) {
    expect(isKnown('"e"', condition)).toBe(true);
  }
  for (const condition of [undefined, '', '"f"', 'e', '"E"', '"ee"', 'w/"e"', '"a","b"', '"*"']) {
    expect(isKnown('"e"', condition)).toBe(false);
  }
});

test('only strong comparison counts for a version that must not have changed', () => {
  for (const condition of ['"e"', '*', '"a", "e"']) expect(isNamed('"e"', condition)).toBe(true);
  for (const condition of ['W/"e"', '', '"f"']) expect(isNamed('"e"', condition)).toBe(false);
});

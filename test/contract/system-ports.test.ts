import { describe, expect, test } from '@jest/globals';
import { SettableClock, CountingIds } from '../support/settable-clock.ts';
import { CountingKeyMaterial } from '../support/access/access-lab.ts';
import { SystemClock, UuidIds, NodeKeyMaterial } from '../../src/adapters/system/system-ports.ts';
import { base62 } from '../../src/access/domain/api-key.ts';
import type { KeyMaterial } from '../../src/access/ports.ts';

const start = new Date('2026-03-01T10:00:00.000Z');

describe.each([
  ['that can be set', () => new SettableClock(start)],
  ['of the system', () => new SystemClock()],
])('a clock %s', (_, open) => {
  test('gives each caller a separate date', () => {
    const clock = open();
    clock.now().setTime(0);
    expect(clock.now().getTime()).not.toBe(0);
  });
});

test('a clock that can be set stands still until it is set, forward or back', () => {
  const clock = new SettableClock(start);
  expect(clock.now()).toEqual(start);
  clock.advance(-1500);
  expect(clock.now()).toEqual(new Date('2026-03-01T09:59:58.500Z'));
  clock.set(start);
  expect(clock.now()).toEqual(start);
});

describe.each([
  ['that count', () => new CountingIds()],
  ['from UUIDs', () => new UuidIds()],
])('ids %s', (_, open) => {
  test('start with their prefix, are URL-safe and have at most 40 characters', () => {
    const ids = open();
    for (const prefix of ['acct', 'key', 'claim']) {
      const id = ids.next(prefix);
      expect(id).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]+$`));
      expect(id.length).toBeLessThanOrEqual(40);
    }
  });

  test('never repeat, and sort in the order in which they were created', () => {
    const ids = open();
    const all = Array.from({ length: 5000 }, () => ids.next('evt'));
    expect(new Set(all).size).toBe(5000);
    expect(all.toSorted()).toEqual(all);
  });
});

test('two processes never create the same id from UUIDs', () => {
  const [first, second] = [new UuidIds(), new UuidIds()];
  const all = Array.from({ length: 1000 }, (_, n) => (n % 2 ? first : second).next('evt'));
  expect(new Set(all).size).toBe(1000);
});

const keyMaterialContract = (open: () => KeyMaterial): void => {
  test('random text has the requested length and uses every letter and digit, and nothing else', () => {
    const material = open();
    for (const length of [0, 1, 32]) expect(material.randomBase62(length)).toHaveLength(length);
    // The chance that one of 62 characters is missing among 20,000 is 1 in 10^139.
    expect([...new Set(material.randomBase62(20_000))].sort()).toEqual(Array.from(base62).sort());
  });

  test('random text never repeats', () => {
    const material = open();
    const all = Array.from({ length: 1000 }, () => material.randomBase62(32));
    expect(new Set(all).size).toBe(1000);
  });

  test('the secret for an authenticator app has 160 bits in base32, and never repeats', () => {
    const material = open();
    const all = Array.from({ length: 100 }, () => material.randomBase32());
    for (const one of all) expect(one).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(all).size).toBe(all.length);
  });

  // RFC 6238, appendix B: the last six of the eight digits for SHA-1.
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('the code %d seconds after 1970 is the published one', (seconds, code) => {
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
    expect(open().timeCode(secret, Math.floor(seconds / 30))).toBe(code);
  });

  test('a digest is 64 lower-case hex digits, equal for equal texts only', () => {
    const material = open();
    const texts = ['', 'a', 'A', 'ä', 'a\u0308', 'a '];
    const digests = texts.map((text) => material.sha256(text));
    for (const digest of digests) expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(digests).size).toBe(texts.length);
    expect(texts.map((text) => material.sha256(text))).toEqual(digests);
  });
};

describe('predictable key material for tests', () => {
  keyMaterialContract(() => new CountingKeyMaterial());
});

describe('key material from Node', () => {
  keyMaterialContract(() => new NodeKeyMaterial());

  // FIPS 180-4, examples of NIST.
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('the digest of "%s" is the published one', (text, digest) => {
    expect(new NodeKeyMaterial().sha256(text)).toBe(digest);
  });

  test('two instances give different random text', () => {
    const [first, second] = [new NodeKeyMaterial(), new NodeKeyMaterial()];
    expect(first.randomBase62(32)).not.toBe(second.randomBase62(32));
  });
});

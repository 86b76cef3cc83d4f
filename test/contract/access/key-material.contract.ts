import { expect, test } from '@jest/globals';
import { base62 } from '../../../src/access/domain/api-key.ts';
import type { KeyMaterial } from '../../../src/access/ports.ts';

export const keyMaterialContract = (open: () => KeyMaterial): void => {
  test('random text has its length and uses every letter and digit, nothing else', () => {
    const material = open();
    for (const length of [0, 1, 32]) expect(material.randomBase62(length)).toHaveLength(length);
    // Each of 62 characters fails to appear among 20,000 with a chance of 1 in 10^139.
    expect([...new Set(material.randomBase62(20_000))].sort()).toEqual(Array.from(base62).sort());
  });

  test('random text never repeats', () => {
    const material = open();
    const all = Array.from({ length: 1000 }, () => material.randomBase62(32));
    expect(new Set(all).size).toBe(1000);
  });

  test('a secret of an app has 160 bits in base32, and never repeats', () => {
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

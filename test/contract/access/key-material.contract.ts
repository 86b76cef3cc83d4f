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

  test('a digest is 64 lower-case hex digits, equal for equal texts only', () => {
    const material = open();
    const texts = ['', 'a', 'A', 'ä', 'a\u0308', 'a '];
    const digests = texts.map((text) => material.sha256(text));
    for (const digest of digests) expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(digests).size).toBe(texts.length);
    expect(texts.map((text) => material.sha256(text))).toEqual(digests);
  });
};

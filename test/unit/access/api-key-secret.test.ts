import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../support/any-text.ts';
import {
  base62,
  composeSecret,
  isWellFormedSecret,
  secretHint,
} from '../../../src/access/domain/api-key.ts';

const random = fc.string({
  unit: fc.constantFrom(...Array.from(base62)),
  minLength: 32,
  maxLength: 32,
});
const secret = random.map(composeSecret);

/** The published definition, written down a second time over zlib's CRC-32. */
const expected = (text: string): string => {
  let rest = BigInt(crc32(text));
  const digits = Array.from({ length: 6 }, () => {
    const digit = base62.charAt(Number(rest % 62n));
    rest /= 62n;
    return digit;
  });
  return text + digits.reverse().join('');
};

describe('the secret of an API key', () => {
  test('is pets_live_, 32 random characters and 6 of a CRC-32, as zlib computes it', () => {
    const known = composeSecret('0123456789ABCDEFGHIJKLMNOPQRSTUV');
    expect(known).toBe(expected('pets_live_0123456789ABCDEFGHIJKLMNOPQRSTUV'));
    expect(known).toHaveLength(48);
    fc.assert(fc.property(random, (text) => composeSecret(text) === expected(`pets_live_${text}`)));
  });

  test('is well-formed when newly made', () => {
    fc.assert(fc.property(secret, isWellFormedSecret));
  });

  test('is refused when any single character was changed', () => {
    const anyChange = fc.tuple(secret, fc.nat(47), fc.string({ unit: anyCharacter, maxLength: 1 }));
    fc.assert(
      fc.property(anyChange, ([whole, place, other]) => {
        fc.pre(whole.charAt(place) !== other);
        return !isWellFormedSecret(whole.slice(0, place) + other + whole.slice(place + 1));
      }),
    );
    const [known = ''] = fc.sample(secret, { numRuns: 1, seed: 1 });
    const mistyped = Array.from(known, (was, place) =>
      Array.from(
        base62.replace(was, ''),
        (other) => known.slice(0, place) + other + known.slice(place + 1),
      ),
    );
    expect(mistyped.flat()).toHaveLength(46 * 61 + 2 * 62); // "_" twice
    expect(mistyped.flat().filter(isWellFormedSecret)).toEqual([]);
  });

  test('is refused when two neighbouring characters were swapped', () => {
    fc.assert(
      fc.property(secret, fc.integer({ min: 10, max: 46 }), (whole, place) => {
        const [a, b] = [whole.charAt(place), whole.charAt(place + 1)];
        fc.pre(a !== b);
        return !isWellFormedSecret(whole.slice(0, place) + b + a + whole.slice(place + 2));
      }),
    );
  });

  test('is refused in any other length, even with a right checksum', () => {
    const length = fc.integer({ min: 0, max: 64 }).filter((its) => its !== 32);
    const wrong = length.chain((its) => fc.string({ minLength: its, maxLength: its }));
    fc.assert(fc.property(wrong, (text) => !isWellFormedSecret(expected(`pets_live_${text}`))));
    fc.assert(
      fc.property(secret, fc.constantFrom(' ', '\n', '0'), (whole, more) => {
        expect([whole + more, more + whole].map(isWellFormedSecret)).toEqual([false, false]);
      }),
    );
  });

  test('is refused with another prefix, even with a right checksum', () => {
    fc.assert(fc.property(random, (text) => !isWellFormedSecret(expected(`pets_test_${text}`))));
  });

  test('is shown in lists by the four characters at each end', () => {
    const whole = composeSecret('0123456789ABCDEFGHIJKLMNOPQRSTUV');
    expect(secretHint(whole)).toBe(`pets_live_0123…${whole.slice(-4)}`);
  });
});

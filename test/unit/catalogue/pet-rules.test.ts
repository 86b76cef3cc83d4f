import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../support/seeded-random.ts';
import { largestQuantity, sellPet } from '../../../src/catalogue/domain/order.ts';
import {
  addPet,
  deletePet,
  editPet,
  isCategoryId,
  isPetName,
  largestInt64,
  petStatuses,
  searchedName,
  type PetDraft,
} from '../../../src/catalogue/domain/pet.ts';

const now = new Date('2026-03-01T10:00:00Z');
const rex: PetDraft = { name: 'Rex', categoryId: 7n, status: 'available' };

/** Any code point except control characters, line breaks, halves of surrogate pairs and spaces. */
const letter = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 1 })
  .filter((text) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text) && text.trim() === text);
const text = (length: fc.StringConstraints) => fc.string({ ...length, unit: letter });

describe("an animal's name", () => {
  test('has 1 to 255 characters of any script', () => {
    fc.assert(fc.property(text({ minLength: 1, maxLength: 255 }), (name) => isPetName(name)));
    expect(isPetName('')).toBe(false);
    expect(isPetName('x'.repeat(255))).toBe(true);
    expect(isPetName('x'.repeat(256))).toBe(false);
    const tooLong = text({ minLength: 256, maxLength: 300 });
    fc.assert(fc.property(tooLong, (name) => !isPetName(name)));
  });

  test('may contain direction marks, as names in right-to-left scripts do', () => {
    expect(isPetName('\u200fרקס\u200f (2)')).toBe(true);
  });

  test('counts an emoji as one character', () => {
    expect(isPetName('🐕'.repeat(255))).toBe(true);
    expect(isPetName('🐕'.repeat(256))).toBe(false);
  });

  test('has no space at its ends, but may have spaces inside', () => {
    const space = fc.constantFrom(' ', '\u00a0', '\u2003', '\u3000', '\ufeff');
    const inner = text({ minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(inner, inner, space, (a, b, gap) => {
        expect([a + gap, gap + a, gap, gap + a + gap].map(isPetName)).toEqual(Array(4).fill(false));
        expect(isPetName(a + gap + b)).toBe(true);
      }),
    );
  });

  test('has no control character anywhere', () => {
    const controls = [...Array(32).keys(), ...Array.from({ length: 33 }, (_, n) => 0x7f + n)];
    for (const code of controls) expect(isPetName(`a${String.fromCodePoint(code)}b`)).toBe(false);
  });

  test('has no line break anywhere, of any kind', () => {
    const breaks = ['\n', '\v', '\f', '\r', '\u0085', '\u2028', '\u2029'];
    expect(breaks.filter((code) => isPetName(`a${code}b`))).toEqual([]);
  });

  test('has no half of a surrogate pair anywhere', () => {
    const half = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
    fc.assert(fc.property(half, (unit) => !isPetName(`a${unit}b`) && !isPetName(unit)));
  });
});

test('a category id is any int64 from 1', () => {
  fc.assert(fc.property(fc.bigInt(1n, largestInt64), (id) => isCategoryId(id)));
  fc.assert(fc.property(fc.bigInt({ max: 0n }), (id) => !isCategoryId(id)));
  fc.assert(fc.property(fc.bigInt({ min: 2n ** 63n }), (id) => !isCategoryId(id)));
  expect([0n, 1n, 2n ** 63n - 1n, 2n ** 63n].map(isCategoryId)).toEqual([false, true, true, false]);
});

test.each(petStatuses)('an animal that is %s may be added, with an event', (status) => {
  expect(addPet('acct_1', 3n, { ...rex, status }, now)).toEqual({
    state: { id: 3n, ...rex, status },
    events: [{ type: 'pet_added', accountId: 'acct_1', occurredAt: now, petId: '3' }],
  });
});

test.each([{ name: '' }, { name: ' Rex' }, { categoryId: 0n }, { categoryId: largestInt64 + 1n }])(
  'an animal with %o is not added',
  (wrong) => {
    const adding = () => addPet('acct_1', 3n, { ...rex, ...wrong }, now);
    expect(adding).toThrow(expect.objectContaining({ code: 'pet_invalid' }));
  },
);

describe('editing an animal', () => {
  const pet = { id: 3n, ...rex };
  const about = { accountId: 'acct_1', occurredAt: now, petId: '3' };

  test.each(petStatuses)('changes its name and category while it is %s', (status) => {
    const changes = { name: 'Max', categoryId: largestInt64 };
    const told = { name: 'Max', categoryId: '9223372036854775807' };
    expect(editPet('acct_1', { ...pet, status }, changes, now)).toEqual({
      state: { ...pet, ...changes, status },
      events: [{ type: 'pet_changed', ...about, ...told }],
    });
  });

  test('to the same values has no event', () => {
    expect(editPet('acct_1', pet, rex, now)).toEqual({ state: pet, events: [] });
  });

  test.each([{ name: '' }, { name: 'Rex\n' }, { categoryId: 0n }, { categoryId: 2n ** 63n }])(
    'to %o is refused',
    (wrong) => {
      const editing = () => editPet('acct_1', pet, { ...rex, ...wrong }, now);
      expect(editing).toThrow(expect.objectContaining({ code: 'pet_invalid' }));
    },
  );
});

test('an animal can be deleted until it is sold', () => {
  const deleting = (status: PetDraft['status']) => () =>
    deletePet('acct_1', { id: 3n, ...rex, status }, now);
  const told = { accountId: 'acct_1', occurredAt: now, petId: '3', name: 'Rex' };
  for (const status of ['available', 'pending'] as const) {
    expect(deleting(status)()).toEqual([{ type: 'pet_deleted', ...told }]);
  }
  expect(deleting('sold')).toThrow(expect.objectContaining({ code: 'pet_wrong_status' }));
});

describe('the searchable form of a name', () => {
  test.each([
    ['rex', 'REX'],
    ['Zoë', 'ZOE\u0308'],
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['Ｒｅｘ', 'Rex'],
    ['ﬁdo', 'Fido'],
  ])('is the same for %s and %s', (a, b) => {
    expect(searchedName(a)).toBe(searchedName(b));
  });

  test.each([
    ['Rex', 'Rax'],
    ['कि', 'क'],
    ['がく', 'か'],
    ['🐕', '🐈'],
  ])('is not the same for %s and %s', (a, b) => {
    expect(searchedName(a)).not.toBe(searchedName(b));
  });

  test('begins with the searchable form of any beginning of the name, and has at most 100 characters', () => {
    fc.assert(
      fc.property(text({ minLength: 1, maxLength: 255 }), fc.nat(255), (name, length) => {
        const beginning = [...name].slice(0, length).join('');
        expect([...searchedName(name)].length).toBeLessThanOrEqual(100);
        return searchedName(name).startsWith(searchedName(beginning));
      }),
    );
  });
});

describe('the quantity of an order', () => {
  const sell = (quantity: number) =>
    sellPet('acct_1', { id: 3n, ...rex }, { quantity, shipDate: now }, now);

  test.each([1, 2, largestQuantity])('may be %d', (quantity) => {
    const order = { petId: 3n, quantity, shipDate: now, status: 'placed' };
    expect(sell(quantity).state.order).toEqual(order);
  });

  test.each([0, -1, 1.5, largestQuantity + 1, NaN, Infinity])('may not be %d', (quantity) => {
    expect(() => sell(quantity)).toThrow(expect.objectContaining({ code: 'order_invalid' }));
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Cursors, type CursorScope } from '../../../src/adapters/http/operations/cursors.ts';

const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });
const scope: fc.Arbitrary<CursorScope> = fc.record({
  list: fc.constantFrom('pets', 'orders'),
  accountId: fc.string(),
  filter: fc.string(),
});
const id = fc.bigInt(0n, 2n ** 63n - 1n);

const cursors = new Cursors([new Uint8Array(32)]);
const pets: CursorScope = { list: 'pets', accountId: 'acct_1', filter: 'sold' };

/** The code of the refusal, or undefined when the cursor is accepted. */
const refusalOf = (its: CursorScope, cursor: string, by = cursors): unknown => {
  try {
    by.decode(its, cursor);
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

describe('a cursor', () => {
  test('returns the position that it was created for, in any process with the same secret', () => {
    fc.assert(
      fc.property(secret, scope, id, (key, its, after) => {
        const cursor = new Cursors([key]).encode(its, after);
        expect(new Cursors([key]).decode(its, cursor)).toBe(after);
      }),
    );
  });

  test('stays valid after a rotation, and new cursors use the new secret', () => {
    fc.assert(
      fc.property(secret, secret, id, (old, current, after) => {
        fc.pre(Buffer.compare(old, current) !== 0);
        const rotated = new Cursors([current, old]);
        expect(rotated.decode(pets, new Cursors([old]).encode(pets, after))).toBe(after);
        expect(rotated.encode(pets, after)).toBe(new Cursors([current]).encode(pets, after));
      }),
    );
  });

  test('is URL-safe', () => {
    fc.assert(
      fc.property(scope, id, (its, after) => {
        const cursor = cursors.encode(its, after);
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(cursor.length).toBeLessThanOrEqual(64);
      }),
    );
  });

  test('does not show the account or the filter', () => {
    expect(cursors.encode(pets, 7n)).not.toMatch(/acct|sold|pets/);
  });

  test('is refused when any of its characters was changed, added or removed', () => {
    const character = fc.constantFrom(...Array.from('0123456789abcdefABCDEF.-_+/=% \n'));
    fc.assert(
      fc.property(id, fc.nat(36), fc.nat(1), character, (after, place, removed, added) => {
        const cursor = cursors.encode(pets, after);
        const changed = cursor.slice(0, place) + added + cursor.slice(place + removed);
        fc.pre(changed !== cursor);
        expect(refusalOf(pets, changed)).toBe('invalid_cursor');
        expect(refusalOf(pets, cursor.slice(0, place))).toBe(
          place < cursor.length ? 'invalid_cursor' : undefined,
        );
      }),
    );
  });

  test('is refused when it combines parts of two cursors', () => {
    fc.assert(
      fc.property(id, id, (after, other) => {
        const [mine, theirs] = [cursors.encode(pets, after), cursors.encode(pets, other)];
        const most = Math.max(mine.length, theirs.length);
        const mixed = Array.from({ length: most }, (_, at) => mine.slice(0, at) + theirs.slice(at));
        const strange = mixed.filter((one) => one !== mine && one !== theirs);
        expect(strange.filter((one) => refusalOf(pets, one) !== 'invalid_cursor')).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test('is refused for another list, account, filter or secret', () => {
    fc.assert(
      fc.property(scope, scope, secret, id, (its, other, key, after) => {
        const cursor = cursors.encode(its, after);
        const others = [
          { ...its, list: its.list === 'pets' ? 'orders' : 'pets' } as const,
          ...(other.accountId === its.accountId ? [] : [{ ...its, accountId: other.accountId }]),
          ...(other.filter === its.filter ? [] : [{ ...its, filter: other.filter }]),
        ];
        for (const one of others) expect(refusalOf(one, cursor)).toBe('invalid_cursor');
        fc.pre(key.some((byte) => byte !== 0));
        expect(refusalOf(its, cursor, new Cursors([key]))).toBe('invalid_cursor');
      }),
    );
    const [shifted, original] = [{ ...pets, accountId: 'acct_', filter: '1sold' }, pets];
    expect(refusalOf(shifted, cursors.encode(original, 7n))).toBe('invalid_cursor');
  });

  test('is refused when it is made up', () => {
    fc.assert(fc.property(fc.string(), (text) => refusalOf(pets, text) === 'invalid_cursor'));
    const alike = fc.stringMatching(/^[0-9a-f]{1,16}\.[\w-]{22}$/);
    fc.assert(fc.property(alike, (text) => refusalOf(pets, text) === 'invalid_cursor'));
  });
});

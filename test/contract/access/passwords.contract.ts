import { expect, test } from '@jest/globals';
import type { Passwords } from '../../../src/access/people-ports.ts';

const password = 'correct horse battery';

export const passwordsContract = (passwords: Passwords): void => {
  test('a password matches its own hash, and no other password does', async () => {
    const hash = await passwords.hash(password);
    expect(await passwords.matches(password, hash)).toBe(true);
    for (const other of [`${password} `, password.toUpperCase()]) {
      expect(await passwords.matches(other, hash)).toBe(false);
    }
  });

  test('a password matches in composed and decomposed Unicode form', async () => {
    const composed = await passwords.hash('caf\u00e9 \ufb01ne, thanks');
    expect(await passwords.matches('cafe\u0301 fine, thanks', composed)).toBe(true);
    expect(await passwords.matches('cafe fine, thanks', composed)).toBe(false);
  });

  test('every character of the longest password counts', async () => {
    const longest = '🦜'.repeat(199);
    const hash = await passwords.hash(`${longest}a`);
    expect(await passwords.matches(`${longest}a`, hash)).toBe(true);
    expect(await passwords.matches(`${longest}b`, hash)).toBe(false);
  });

  test('a password matches every hash made from it, whether the hashes were made together or not', async () => {
    const first = await passwords.hash(password);
    const beside = await passwords.hash(password, first);
    const other = await passwords.hash('another password', first);
    const apart = await passwords.hash(password, 'unreadable');
    const right = await passwords.matching(password, [first, other, beside, 'unreadable', apart]);
    expect([...right].sort()).toEqual([first, beside, apart].sort());
    expect(await passwords.matching('another password', [first, other])).toEqual([other]);
    expect(await passwords.matching(password, [])).toEqual([]);
  });

  test('a password of 60 000 accents matches nothing', async () => {
    const hash = await passwords.hash(password);
    const accents = 'a' + '\u0315\u0300'.repeat(30_000);
    expect(await passwords.matches(accents, hash)).toBe(false);
  });

  test('without a hash, no password matches', async () => {
    expect(await passwords.matches('', undefined)).toBe(false);
  });

  test('an unreadable hash matches nothing and throws nothing', async () => {
    for (const unreadable of [password, '$scrypt$']) {
      expect(await passwords.matches(password, unreadable)).toBe(false);
    }
  });

  test('the most common passwords are known, all in lower case', async () => {
    const commonest = await passwords.commonest();
    for (const one of ['password', 'qwerty', 'dragon', 'sonyericsson']) {
      expect(commonest.has(one)).toBe(true);
    }
    expect(commonest.has(password)).toBe(false);
    expect([...commonest].filter((one) => one !== one.toLowerCase())).toEqual([]);
  });
};

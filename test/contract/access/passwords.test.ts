import { describe, expect, test } from '@jest/globals';
import { createHook } from 'node:async_hooks';
import { scryptSync } from 'node:crypto';
import { PlainPasswords } from '../../support/plain-passwords.ts';
import { ScryptPasswords } from '../../../src/adapters/system/secrets.ts';
import { passwordsContract } from './passwords.contract.ts';

describe('plain-text passwords', () => {
  passwordsContract(new PlainPasswords());
});

describe('passwords under scrypt', () => {
  const passwords = new ScryptPasswords();
  const password = 'correct horse battery';
  passwordsContract(passwords);

  test('a hash names the algorithm and its cost, and equals the scrypt result of RFC 7914', async () => {
    const [, name, cost, salt = '', key = ''] = (await passwords.hash(password)).split('$');
    expect([name, cost]).toEqual(['scrypt', 'ln=15,r=8,p=3']);
    const settings = { N: 32_768, r: 8, p: 3, maxmem: 2 ** 26 };
    const bytes = Buffer.from(salt, 'base64');
    expect(bytes).toHaveLength(16);
    const expected = scryptSync(password, bytes, 32, settings).toString('base64');
    expect(`${key}=`).toBe(expected);
  });

  test('passwords are compared with more than 10 000 common ones, from a list that is read once', async () => {
    const commonest = await passwords.commonest();
    expect(commonest.size).toBeGreaterThan(10_000);
    expect(await passwords.commonest()).toBe(commonest);
  });

  test('a hash that another program made can be checked', async () => {
    const key = scryptSync(password, Buffer.alloc(16, 7), 32, {
      N: 32_768,
      r: 8,
      p: 3,
      maxmem: 2 ** 26,
    });
    const [salt, hash] = [Buffer.alloc(16, 7), key].map((bytes) =>
      bytes.toString('base64').replaceAll('=', ''),
    );
    const known = `$scrypt$ln=15,r=8,p=3$${salt ?? ''}$${hash ?? ''}`;
    expect(await passwords.matches(password, known)).toBe(true);
    expect(await passwords.matches(password, known.replace('ln=15', 'ln=14'))).toBe(false);
    expect(await passwords.matches(password, `${known}\n`)).toBe(false);
  });

  test('hashing one password twice gives different hashes', async () => {
    const [one, other] = await Promise.all([passwords.hash(password), passwords.hash(password)]);
    expect(one).not.toBe(other);
  });

  /** The number of keys derived during `work`, and how many of them at once. */
  const derivedBy = async (work: () => Promise<unknown>) => {
    const begun = new Set<number>();
    const derived = { all: 0, most: 0 };
    const hook = createHook({
      init: (id, type) => {
        if (type !== 'SCRYPTREQUEST') return;
        begun.add(id);
        derived.most = Math.max(derived.most, begun.size);
      },
      before: (id) => {
        if (begun.delete(id)) derived.all++;
      },
    }).enable();
    await work();
    hook.disable();
    return derived;
  };

  test('at most two hashes are computed at once', async () => {
    const tries = [undefined, 'unreadable', undefined];
    const derived = await derivedBy(() =>
      Promise.all([
        passwords.hash(password),
        ...tries.map((its) => passwords.matches(password, its)),
        passwords.hash(password),
      ]),
    );
    expect(derived).toEqual({ all: 5, most: 2 });
  });

  test('requests are refused while too many wait, and the answer says to try again later', async () => {
    const busy = new ScryptPasswords({ mostWaiting: 1 });
    const begun = [1, 2, 3].map(() => busy.hash(password));
    const refused = [busy.matches(password, undefined), busy.hash(password)];
    for (const one of await Promise.allSettled(refused)) {
      expect(one).toMatchObject({ status: 'rejected', reason: { name: 'Unavailable' } });
    }
    await Promise.all(begun);
    expect(await busy.matches(password, undefined)).toBe(false);
  });

  test('a missing or unreadable hash takes as much work as a real one', async () => {
    for (const hash of [await passwords.hash(password), undefined, 'unreadable']) {
      const derived = await derivedBy(() => passwords.matches('a wrong password', hash));
      expect({ hash, ...derived }).toEqual({ hash, all: 1, most: 1 });
    }
  });
});

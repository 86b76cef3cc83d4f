import { describe, expect, test } from '@jest/globals';
import { createHook } from 'node:async_hooks';
import { scryptSync } from 'node:crypto';
import { PlainPasswords } from '../../support/plain-passwords.ts';
import { ScryptPasswords } from '../../../src/adapters/system/scrypt-passwords.ts';
import { passwordsContract } from './passwords.contract.ts';

describe('plain-text passwords', () => {
  passwordsContract(new PlainPasswords());
});

describe('passwords under scrypt', () => {
  const passwords = new ScryptPasswords();
  const password = 'correct horse battery';
  passwordsContract(passwords);

  test('a hash names the algorithm and its cost, and is what RFC 7914 makes of the password', async () => {
    const [, name, cost, salt = '', key = ''] = (await passwords.hash(password)).split('$');
    expect([name, cost]).toEqual(['scrypt', 'ln=15,r=8,p=3']);
    const settings = { N: 32_768, r: 8, p: 3, maxmem: 2 ** 26 };
    const bytes = Buffer.from(salt, 'base64');
    expect(bytes).toHaveLength(16);
    const expected = scryptSync(password, bytes, 32, settings).toString('base64');
    expect(`${key}=`).toBe(expected);
  });

  test('more than 10 000 of the commonest passwords are known, and the list is read once', async () => {
    const commonest = await passwords.commonest();
    expect(commonest.size).toBeGreaterThan(10_000);
    expect(await passwords.commonest()).toBe(commonest);
  });

  test('a hash made by another program is understood', async () => {
    const key = scryptSync(password, Buffer.alloc(16, 7), 32, {
      ...{ N: 32_768, r: 8, p: 3, maxmem: 2 ** 26 },
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
    expect(await passwords.matches(password, other)).toBe(true);
  });

  test('at most two are computed at once', async () => {
    const begun = new Set<number>();
    let most = 0;
    let answered = 0;
    const hook = createHook({
      init: (id, type) => {
        if (type !== 'SCRYPTREQUEST') return;
        begun.add(id);
        most = Math.max(most, begun.size);
      },
      // The answer is there.
      before: (id) => {
        if (begun.delete(id)) answered++;
      },
    }).enable();
    const tries = [undefined, 'unreadable', undefined];
    await Promise.all([
      passwords.hash(password),
      ...tries.map((its) => passwords.matches(password, its)),
      passwords.hash(password),
    ]);
    hook.disable();
    expect([answered, most]).toEqual([5, 2]);
  });

  test('requests are refused while too many wait, and may try again later', async () => {
    const busy = new ScryptPasswords({ mostWaiting: 1 });
    const begun = [1, 2, 3].map(() => busy.hash(password));
    const refused = [busy.matches(password, undefined), busy.hash(password)];
    for (const one of await Promise.allSettled(refused)) {
      expect(one).toMatchObject({ status: 'rejected', reason: { name: 'Unavailable' } });
    }
    const [hash] = await Promise.all(begun);
    expect(await busy.matches(password, hash)).toBe(true);
  });

  test('a missing or unreadable hash takes as long as a real one', async () => {
    const spent = async (hash: string | undefined): Promise<number> => {
      const before = process.cpuUsage();
      await passwords.matches('a wrong password', hash);
      const { user } = process.cpuUsage(before);
      return user;
    };
    const real = await passwords.hash(password);
    const usual = Math.min(await spent(real), await spent(real));
    for (const hash of [undefined, '', 'unreadable']) {
      // Without the work it would take almost no time; cores that share their units need up to twice as long.
      expect(await spent(hash)).toBeGreaterThan(usual / 5);
    }
  });
});

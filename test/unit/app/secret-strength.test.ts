import { expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { weaknessOf } from '../../../src/app/settings/faults.ts';

test.each([
  ['one letter', 'a'.repeat(32)],
  ['one letter, many times', '0'.repeat(500)],
  ['two letters in turn', 'ab'.repeat(16)],
  ['a short word again and again', 'hunter2'.repeat(6)],
  ['a word that is counted up', 'Password1Password2Password3Password4'],
  ['half of it twice', 'k3Xv9QpL2mZt8RwY'.repeat(2)],
  ['the alphabet', 'abcdefghijklmnopqrstuvwxyz012345'],
  ['the digits', '01234567890123456789012345678901'],
  ['the digits of hexadecimal numbers', '0123456789abcdef0123456789ABCDEF'],
  ['the keyboard', 'qwertyuiopasdfghjklzxcvbnm1234567890'],
  ['a sentence', 'this is a very secret key for my shop'],
  ['a placeholder', 'change-me-please-this-is-not-a-secret'],
  ['words in capitals', 'CHANGE_ME_BEFORE_YOU_GO_TO_PRODUCTION'],
  ['words without blanks', 'correcthorsebatterystaplecorrect'],
  ['digits only', '31415926535897932384626433832795'],
])('a secret key that is %s is weak', (_, secret) => {
  expect(weaknessOf(secret)).toMatch(/^\S.{9,}/);
});

const random = (seed: number): Buffer => hash('sha256', `seed ${seed}`, 'buffer');

test('random text is never called weak', () => {
  for (let seed = 0; seed < 300; seed++) {
    const bytes = random(seed);
    const forms = [
      bytes.toString('hex'),
      bytes.toString('hex').slice(0, 32),
      bytes.toString('base64'),
      bytes.toString('base64url').slice(0, 32),
      `${bytes.toString('hex').slice(0, 8)}-${bytes.toString('hex').slice(8, 12)}-${bytes.toString('hex').slice(12, 36)}`,
    ];
    for (const form of forms) expect([form, weaknessOf(form)]).toEqual([form, undefined]);
  }
});

test('a long enough phrase of different words is accepted', () => {
  const phrase = 'tulip anvil gravel mosquito harbor velvet lantern pickle orbit saddle';
  expect(weaknessOf(phrase)).toBeUndefined();
});

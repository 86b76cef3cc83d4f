import { describe, expect, test } from '@jest/globals';
import { checkPassword } from '../../../src/access/domain/password.ts';

const facts = {
  email: 'mia@shop.example',
  accountName: 'Zoë’s Birds',
  commonest: new Set(['password', 'elephant', 'motherfucker', 'abc', '1qaz2wsx3edc']),
};

const checking = (password: string) => () => {
  checkPassword(password, facts);
};

const refuses = (password: string, why: string): void => {
  expect(checking(password)).toThrow(expect.objectContaining({ code: 'password_invalid' }));
  expect(checking(password)).toThrow(why);
};

test.each([
  'correct horse battery',
  'seven quiet tortoises',
  'elephant and a tortoise',
  'x7!kQ0z#Lm2p',
  '🦜🐢🦊🐇🐈🐕🐎🐖🐏🐑🐐🐪',
  'Пароль из слов',
  'correct horse '.repeat(14),
])('an uncommon password of 12 to 200 characters is accepted: %j', (password) => {
  expect(checking(password)).not.toThrow();
});

test.each(['', 'x'.repeat(11), '🦜'.repeat(11), 'ab'.repeat(101), '🦜'.repeat(201)])(
  'a password that is too short or too long is refused: %j',
  (password) => {
    refuses(password, '12 to 200 characters');
  },
);

test.each(['mia@shop.example', 'my MIA@shop.Example 1'])(
  'a password with the e-mail address in it is refused: %s',
  (password) => {
    refuses(password, 'must not contain the e-mail address');
  },
);

test.each(['ZOË’S birds!!', 'zoë’s birds 2026', '2026-mia-2026', 'mia1234567890'])(
  'the name of the account or person with digits or signs around it is refused: %s',
  (password) => {
    refuses(password, 'must not be your name or the name of the account');
  },
);

test.each([
  ...['aaaaaaaaaaaa', '🦜'.repeat(12), ' '.repeat(12), 'a'.repeat(200), '111111111111'],
  ...['abababababab', 'abcabcabcabca', 'Ab1!Ab1!Ab1!', '121212121212'],
])('a few characters that are repeated are refused: %j', (password) => {
  refuses(password, 'repeats the same few characters');
});

test.each([
  ...['123456789012', '987654321098', 'abcdefghijkl', 'ZYXWVUTSRQPO', 'qwertyuiopas'],
  ...['1234567890qwerty', 'poiuytrewq0987654321', 'mnbvcxzlkjhg'],
])('a sequence of characters or neighbouring keys is refused: %s', (password) => {
  refuses(password, 'a sequence of characters or keys');
});

test.each([
  ...['motherfucker', 'MotherFucker', ' 1qaz2wsx3edc ', 'password1234', 'Password2026!'],
  ...['2026password!', '__elephant__', 'abc9081726354', 'passwordpassword'],
  'ｐａｓｓｗｏｒｄ２０２６',
])('a common password is refused, with digits or signs around it too: %j', (password) => {
  refuses(password, 'one of the most common ones');
});

describe('a reason', () => {
  test.each(['aaaaaaaaaaaa', '123456789012', 'password1234', 'mia1234567890'])(
    'comes with advice: %s',
    (password) => {
      refuses(password, 'Choose a few words that do not belong together.');
    },
  );
});

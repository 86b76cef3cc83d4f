import { checkPassword } from '../../../src/access/domain/password.ts';
import {
  isOpen,
  mostSessions,
  secretLength,
  startSession,
  surplusSessions,
} from '../../../src/access/domain/session.ts';
import { describe, expect, test } from '@jest/globals';

const start = new Date('2026-03-01T10:00:00Z');
const hour = 3_600_000;
const after = (milliseconds: number) => new Date(start.getTime() + milliseconds);
const draft = {
  id: 'sess_1',
  personId: 'pers_1',
  way: 'password',
  browser: 'Firefox',
  network: '192.0.2.1',
} as const;
const session = startSession(draft, start);

describe('a session', () => {
  test('lasts twelve hours from its start', () => {
    expect(session).toEqual({
      ...draft,
      others: [],
      resetsPassword: false,
      seenAt: start,
      provenAt: undefined,
      awaitsFactor: false,
      startedAt: start,
      endsAt: after(12 * hour),
    });
  });

  test.each([
    ['at its start', 0, true],
    ['until its last moment', 12 * hour - 1, true],
    ['not from its end on', 12 * hour, false],
    ['not a year later', 8760 * hour, false],
    ['while the clock is set back a little', -12 * hour + 1, true],
    ['not while the clock is set back by twelve hours', -12 * hour, false],
    ['not while the clock is set back by a year', -8760 * hour, false],
  ])('is open %s', (_, milliseconds, expected) => {
    expect(isOpen(session, after(milliseconds))).toBe(expected);
  });

  test.each([
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), 'x'.repeat(200)],
    ['', ''],
    [`${'x'.repeat(199)}🦜`, `${'x'.repeat(199)}\ufffd`],
    ['half a \ud83e bird', 'half a \ufffd bird'],
  ])(
    'keeps at most 200 characters of the browser name, without splitting one: %j',
    (browser, kept) => {
      expect(startSession({ ...draft, browser }, start).browser).toBe(kept);
    },
  );
});

describe('beyond the most sessions of a person', () => {
  const many = (count: number, awaitsFactor: boolean) =>
    Array.from({ length: count }, (_, n) => ({ id: `${String(awaitsFactor)}_${n}`, awaitsFactor }));

  test('the oldest end', () => {
    expect(surplusSessions(session, many(mostSessions - 1, false))).toEqual([]);
    const all = [session, ...many(mostSessions + 1, false)];
    expect(surplusSessions(session, all)).toEqual(['false_49', 'false_50']);
  });

  test('sessions that wait for the second factor end none of the others', () => {
    const waiting = { ...session, awaitsFactor: true };
    const all = [...many(mostSessions, false), ...many(mostSessions, true)];
    expect(surplusSessions(waiting, all)).toEqual(['true_49']);
  });
});

test('a secret holds at least 256 bits', () => {
  expect(secretLength * Math.log2(62)).toBeGreaterThanOrEqual(256);
});

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
  'a password with the email address in it is refused: %s',
  (password) => {
    refuses(password, 'must not contain the email address');
  },
);

test.each(['ZOË’S birds!!', 'zoë’s birds 2026', '2026-mia-2026', 'mia1234567890'])(
  'a password is refused if it is the name of the account or person, even with digits or signs around it: %s',
  (password) => {
    refuses(password, 'must not be your name or the name of the account');
  },
);

test.each([
  ...['aaaaaaaaaaaa', '🦜'.repeat(12), ' '.repeat(12), 'a'.repeat(200), '111111111111'],
  ...['abababababab', 'abcabcabcabca', 'Ab1!Ab1!Ab1!', '121212121212'],
])('a few repeated characters are refused as a password: %j', (password) => {
  refuses(password, 'repeats the same few characters');
});

test.each([
  ...['123456789012', '987654321098', 'abcdefghijkl', 'ZYXWVUTSRQPO', 'qwertyuiopas'],
  ...['1234567890qwerty', 'poiuytrewq0987654321', 'mnbvcxzlkjhg'],
])('a sequence of characters or neighbouring keys is refused as a password: %s', (password) => {
  refuses(password, 'a sequence of characters or keys');
});

test.each([
  ...['motherfucker', 'MotherFucker', ' 1qaz2wsx3edc ', 'password1234', 'Password2026!'],
  ...['2026password!', '__elephant__', 'abc9081726354', 'passwordpassword'],
  'ｐａｓｓｗｏｒｄ２０２６',
])('a common password is refused, with digits or signs around it too: %j', (password) => {
  refuses(password, 'one of the most common ones');
});

describe('a refusal reason', () => {
  test.each(['aaaaaaaaaaaa', '123456789012', 'password1234', 'mia1234567890'])(
    'comes with advice: %s',
    (password) => {
      refuses(password, 'Choose a few words that do not belong together.');
    },
  );
});

import type { PeopleErrorCode } from './access-error.ts';
import { DomainError } from '../../kernel/decision.ts';

export const passwordLength = { min: 12, max: 200 } as const;

/** In characters. Each letter of the longest password may be typed in up to four parts of two UTF-16 units each. */
const longestTyped = passwordLength.max * 4 * 2;

/**
 * Normalises to NFKC, so that all keyboards give the same text. Cuts long text, because normalising many accents is
 * slow.
 */
export const passwordText = (typed: string): string =>
  typed.slice(0, longestTyped).normalize('NFKC');

export interface PasswordFacts {
  readonly email: string;
  readonly accountName: string;
  /** At least the 10 000 commonest passwords, in lower case. */
  readonly commonest: ReadonlySet<string>;
}

/** NIST SP 800-63B, 3.1.1.2: no rule requires signs or digits. @throws DomainError `password_invalid` */
export const checkPassword = (
  password: string,
  { email, accountName, commonest }: PasswordFacts,
): void => {
  const { min, max } = passwordLength;
  const { length } = [...password];
  if (length < min || length > max) throw refusedPassword(`${lengthRule}; a few words work well.`);
  const text = folded(password);
  if (text.includes(folded(email))) {
    throw refusedPassword('A password must not contain the email address.');
  }
  const cores = coresOf(text);
  if ([accountName, localPart(email)].some((name) => cores.includes(folded(name)))) {
    throw refusedPassword(
      `A password must not be your name or the name of the account, with or without digits. ${advice}`,
    );
  }
  if (repeats(text)) {
    throw refusedPassword(`This password repeats the same few characters. ${advice}`);
  }
  if (isInOrder(text)) {
    throw refusedPassword(`This password is a sequence of characters or keys. ${advice}`);
  }
  if (cores.some((core) => commonest.has(core) || commonest.has(unitOf(core)))) {
    throw refusedPassword(
      `This password is one of the most common ones, with or without digits or signs around it. ${advice}`,
    );
  }
};

export const invalidPassword = (message: string, field?: string): DomainError<PeopleErrorCode> =>
  new DomainError('password_invalid', message, field);

const refusedPassword = (message: string) => invalidPassword(message, 'wanted');

const lengthRule = `A password has ${passwordLength.min} to ${passwordLength.max} characters`;
const advice = 'Choose a few words that do not belong together.';

const folded = (text: string): string => text.normalize('NFKC').toLowerCase().trim();

const localPart = (email: string): string => email.slice(0, email.lastIndexOf('@'));

const shortestCore = 3;

/** The text, the text without digits and signs at its end, and the text without them at both ends. */
const coresOf = (text: string): readonly string[] => {
  const letters = [...text];
  const isLetter = (letter: string): boolean => /\p{L}/u.test(letter);
  const end = letters.findLastIndex(isLetter) + 1;
  const begin = letters.findIndex(isLetter);
  const parts = [letters.slice(0, end), letters.slice(Math.max(begin, 0), end)];
  const long = parts.filter(({ length }) => length >= shortestCore).map((part) => part.join(''));
  return [text, ...long];
};

const longestUnit = 4;

/** Whether the whole text repeats one to four characters. The last repetition may be incomplete. */
const repeats = (text: string): boolean => {
  const letters = [...text];
  return Array.from({ length: longestUnit }, (_, index) => index + 1).some((unit) =>
    letters.every((letter, at) => at < unit || letter === letters[at - unit]),
  );
};

/** The first half, if the second half is the same; otherwise the text. */
const unitOf = (text: string): string => {
  const half = text.slice(0, text.length / 2);
  return half + half === text ? half : text;
};

const rows = [
  '0123456789',
  'abcdefghijklmnopqrstuvwxyz',
  '1234567890qwertyuiopasdfghjklzxcvbnm',
  'qwertyuiopasdfghjklzxcvbnm',
];

/** Whether the text follows a row forwards or backwards, wrapping around at its end. */
const isInOrder = (text: string): boolean =>
  rows.some((row) => {
    const long = row.repeat(Math.ceil(text.length / row.length) + 1);
    return long.includes(text) || long.includes([...text].reverse().join(''));
  });

import type { PeopleErrorCode } from './access-error.ts';
import { DomainError } from '../../kernel/decision.ts';

export const passwordLength = { min: 12, max: 200 } as const;

/** Characters: each of the longest password's letters typed in up to four parts, of two places each. */
const longestTyped = passwordLength.max * 4 * 2;

/** The same from every keyboard (NFKC). Longer text is cut, because normalising many accents takes very long. */
export const passwordText = (typed: string): string =>
  typed.slice(0, longestTyped).normalize('NFKC');

export interface PasswordFacts {
  readonly email: string;
  readonly accountName: string;
  /** At least the 10 000 commonest passwords, in lower case. */
  readonly commonest: ReadonlySet<string>;
}

/** NIST SP 800-63B, 3.1.1.2: no rule asks for signs or digits. @throws DomainError `password_invalid` */
export const checkPassword = (
  password: string,
  { email, accountName, commonest }: PasswordFacts,
): void => {
  const { min, max } = passwordLength;
  const { length } = [...password];
  if (length < min || length > max) throw invalidPassword(`${lengthRule}; a few words do well.`);
  const text = folded(password);
  if (text.includes(folded(email))) {
    throw invalidPassword('A password must not contain the e-mail address.');
  }
  const cores = coresOf(text);
  if ([accountName, localPart(email)].some((name) => cores.includes(folded(name)))) {
    throw invalidPassword(
      `A password must not be your name or the name of the account, with or without digits. ${advice}`,
    );
  }
  if (repeats(text)) {
    throw invalidPassword(`This password repeats the same few characters. ${advice}`);
  }
  if (isInOrder(text)) {
    throw invalidPassword(`This password is a sequence of characters or keys. ${advice}`);
  }
  if (cores.some((core) => commonest.has(core) || commonest.has(unitOf(core)))) {
    throw invalidPassword(
      `This password is one of the most common ones, with or without digits or signs around it. ${advice}`,
    );
  }
};

export const invalidPassword = (message: string): DomainError<PeopleErrorCode> =>
  new DomainError('password_invalid', message);

const lengthRule = `A password has ${passwordLength.min} to ${passwordLength.max} characters`;
const advice = 'Choose a few words that do not belong together.';

const folded = (text: string): string => text.normalize('NFKC').toLowerCase().trim();

const localPart = (email: string): string => email.slice(0, email.lastIndexOf('@'));

const shortestCore = 3;

/** The text itself, and what is left without digits and signs at its end and at both ends. */
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

/** Whether it is one to four characters over and over again, the last time perhaps cut off. */
const repeats = (text: string): boolean => {
  const letters = [...text];
  return Array.from({ length: longestUnit }, (_, index) => index + 1).some((unit) =>
    letters.every((letter, at) => at < unit || letter === letters[at - unit]),
  );
};

/** Half of what is written twice; else the text itself. */
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

/** Whether it goes along a row, forwards or backwards, from its end on at its beginning. */
const isInOrder = (text: string): boolean =>
  rows.some((row) => {
    const long = row.repeat(Math.ceil(text.length / row.length) + 1);
    return long.includes(text) || long.includes([...text].reverse().join(''));
  });

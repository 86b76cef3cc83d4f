import { passwordLength } from './password.ts';

/** Characters: each of the longest password's letters typed in up to four parts, of two places each. */
const longestTyped = passwordLength.max * 4 * 2;

/**
 * A password as it is hashed: the same from every keyboard (NFKC). Text longer than any valid password is cut, because
 * normalising many accents takes very long and anyone may send a password.
 */
export const passwordText = (typed: string): string =>
  typed.slice(0, longestTyped).normalize('NFKC');

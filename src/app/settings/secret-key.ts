import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';

/** Keys that the secret key replaces. */
export const previousSecretKeysFor = ({ secretKeyPrevious }: Config): readonly Uint8Array[] =>
  secretKeyPrevious === undefined ? [] : [Buffer.from(secretKeyPrevious)];

/** The configured secret key, or the one in the data folder, which is made at the first start (mode 0600). */
export const secretKeyFor = ({ secretKey, dataDir }: Config): Uint8Array => {
  if (secretKey !== undefined) return Buffer.from(secretKey);
  const path = join(dataDir, 'secret.key');
  if (!existsSync(path)) createOnce(path, dataDir);
  return Buffer.from(readFileSync(path, 'utf8').trim());
};

/** Whole or absent, and the same for all processes that start at once: a link fails where a file exists. */
const createOnce = (path: string, folder: string): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
};

/** Of a whole key; 32 random hexadecimal digits have 128, 32 letters of words or 32 digits 80. */
const leastBits = 82;
/** Letters in one case are counted as a word has them: some 12 bits for five letters. */
const bitsPerCharacter = { word: 2.5, digits: 2.5, mixed: 4 } as const;
/** Of all pieces of four characters. In random text nearly all differ. */
const leastDifferent = 0.8;
/** Of all neighbours. In random text a fifth at most follow each other. */
const mostInSequence = 0.5;
const keyboard = '1234567890 qwertyuiop asdfghjkl zxcvbnm';

/**
 * Why a secret looks guessable: it repeats itself, follows the alphabet or the keyboard, or is made of words. It cannot
 * prove that a secret is random.
 * @returns undefined if no weakness was found
 */
export const weaknessOf = (secret: string): string | undefined => {
  if (repeats(secret)) return 'repeats itself';
  if (runsInSequence(secret.toLowerCase()))
    return 'follows the alphabet, the digits or the keyboard';
  if (guessedBits(secret) < leastBits)
    return 'is made of words, or of too few different characters';
  return undefined;
};

const repeats = (secret: string): boolean => {
  const pieces = Array.from({ length: secret.length - 3 }, (_, at) => secret.slice(at, at + 4));
  return new Set(pieces).size < pieces.length * leastDifferent;
};

const runsInSequence = (secret: string): boolean => {
  let followers = 0;
  for (let at = 1; at < secret.length; at++) {
    const step = secret.charCodeAt(at) - secret.charCodeAt(at - 1);
    const pair = secret.slice(at - 1, at + 1);
    if (Math.abs(step) === 1 || keyboard.includes(pair)) followers += 1;
  }
  return followers > (secret.length - 1) * mostInSequence;
};

/** A repeated word counts once. */
const guessedBits = (secret: string): number => {
  const pieces = new Set(secret.split(/[^\p{L}\p{N}]+/u));
  return [...pieces].reduce(
    (bits, piece) => bits + piece.length * bitsPerCharacter[kindOf(piece)],
    0,
  );
};

const kindOf = (piece: string): keyof typeof bitsPerCharacter => {
  if (/^\d+$/.test(piece)) return 'digits';
  return /^\p{L}\p{Ll}*$|^\p{Lu}*$/u.test(piece) ? 'word' : 'mixed';
};

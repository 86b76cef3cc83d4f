import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

let known: Promise<ReadonlySet<string>> | undefined;

/** Read on first use, once per process. */
export const readCommonPasswords = (): Promise<ReadonlySet<string>> => {
  known ??= readList().catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
};

const readList = async (): Promise<ReadonlySet<string>> => {
  // The list of zxcvbn, commonest first: about 49 000 that were found in leaks. Half a megabyte.
  const path = fileURLToPath(import.meta.resolve('@zxcvbn-ts/language-common/src/passwords.json'));
  const words = JSON.parse(await readFile(path, 'utf8')) as readonly string[];
  return new Set(words.map((word) => word.toLowerCase()));
};

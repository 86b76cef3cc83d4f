import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A small patch of src that breaks one law, and the test that must see it. */
export interface Plant {
  /** Its path below this folder, without ".patch". */
  readonly name: string;
  /** The product's promise that the patch breaks. */
  readonly law: string;
  /** Which test files see it: a regular expression for paths. */
  readonly files: RegExp;
  /** A part of the titles of the tests that see it. */
  readonly title: string;
  /** The path of the patch. */
  readonly patch: string;
}

/** All of them, sorted by name. @throws Error that names a patch without its two lines */
export const readPlants = (): Promise<readonly Plant[]> =>
  Promise.all(
    globSync('**/*.patch', { cwd: import.meta.dirname })
      .toSorted()
      .map((path) => readPlant(join(import.meta.dirname, path))),
  );

const readPlant = async (patch: string): Promise<Plant> => {
  const name = relative(import.meta.dirname, patch).replace(/\.patch$/, '');
  const [head = ''] = (await readFile(patch, 'utf8')).split(/^diff /m);
  const [, law] = /^# law: (.+)$/m.exec(head) ?? [];
  const [, files, title] = /^# sees: (\S+) -- (.+)$/m.exec(head) ?? [];
  if (law === undefined || files === undefined || title === undefined) {
    throw new Error(
      `test/plants/${name}.patch needs "# law: …" and "# sees: <path> -- <title>" above its diff.`,
    );
  }
  return { name, law, files: new RegExp(files), title, patch };
};

/** A test of a run of Jest. */
export interface RanTest {
  readonly file: string;
  readonly title: string;
  readonly status: string;
  readonly failures: readonly string[];
}

export const mayBeSeenBy = ({ files, title }: Plant, test: RanTest): boolean =>
  files.test(test.file) && test.title.includes(title);

/** A module that cannot be loaded shows no law. */
const isOfCode = (failure: string): boolean => /\b(?:Syntax|Reference)Error\b/.test(failure);

/** The test failed, and not because its code could not be loaded. */
export const sees = ({ status, failures }: RanTest): boolean =>
  status === 'failed' && failures.length > 0 && !failures.some(isOfCode);

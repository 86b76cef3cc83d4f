import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plantTree } from './planted-tree.ts';

/** A change of one source file: the first occurrence of a text is replaced. */
export interface PlantedChange {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Compiles a copy of the sources with some changes.
 * @returns where it does not compile, each place once and sorted: `path: declaration`
 */
export const placesThatDoNotCompile = async (
  ...changes: readonly PlantedChange[]
): Promise<readonly string[]> => {
  const tree = await plantTree(['src', 'db', 'package.json', 'tsconfig.json'], {
    'tsconfig.trial.json': '{ "extends": "./tsconfig.json", "include": ["src", "db"] }',
  });
  try {
    for (const { file, from, to } of changes) {
      const path = join(tree.folder, file);
      const text = await readFile(path, 'utf8');
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
      await writeFile(
        path,
        text.replace(from, () => to),
      );
    }
    const places = [];
    for (const [path, line] of await errorsIn(tree.folder)) {
      const lines = (await readFile(join(tree.folder, path), 'utf8')).split('\n');
      places.push(`${path}: ${declarationAt(lines, line)}`);
    }
    return [...new Set(places)].sort();
  } finally {
    await tree.remove();
  }
};

const errorsIn = (cwd: string): Promise<readonly (readonly [path: string, line: number])[]> =>
  new Promise((done) => {
    const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
    const args = [compiler, '--project', 'tsconfig.trial.json', '--noEmit', '--pretty', 'false'];
    execFile(process.execPath, args, { cwd, maxBuffer: 2 ** 26 }, (_error, stdout) => {
      const found = stdout.matchAll(/^(\S+)\((\d+),\d+\): error /gm);
      done(Array.from(found, ([, path = '', line]) => [path, Number(line)] as const));
    });
  });

const declaration =
  /^(?:export )?(?:const|class|interface|type) (\w+)|^ {2}(?:readonly |async |get )*(\w+)(?:<|\(| = )/;

/** The name of the innermost declaration, at the top or in a class, that the line belongs to. */
const declarationAt = (lines: readonly string[], line: number): string => {
  for (let at = line - 1; at >= 0; at--) {
    const [, top, member] = declaration.exec(lines[at] ?? '') ?? [];
    if (top ?? member) return top ?? member ?? '';
  }
  return '';
};

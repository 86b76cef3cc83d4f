import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plantTree, type PlantedTree } from './planted-tree.ts';

/** A change of one source file: the first occurrence of a text is replaced. */
export interface PlantedChange {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The compiler of `make check`, without its rules. */
const typesOnly = {
  categories: { correctness: 'off' },
  options: { typeAware: true, typeCheck: true },
};

/**
 * Compiles a copy of the sources with some changes.
 * @returns where it does not compile, each place once and sorted: `path: declaration`
 */
export const placesThatDoNotCompile = async (
  ...changes: readonly PlantedChange[]
): Promise<readonly string[]> => {
  const tree = await plantTree(['src', 'db', 'package.json', 'tsconfig.json'], {
    '.oxlintrc.json': JSON.stringify(typesOnly),
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
    for (const [path, line] of await errorsIn(tree)) {
      const lines = (await readFile(join(tree.folder, path), 'utf8')).split('\n');
      places.push(`${path}: ${declarationAt(lines, line)}`);
    }
    return [...new Set(places)].sort();
  } finally {
    await tree.remove();
  }
};

interface Report {
  readonly diagnostics: readonly {
    readonly filename: string;
    readonly labels: readonly { readonly span: { readonly line: number } }[];
  }[];
}

const errorsIn = async (
  tree: PlantedTree,
): Promise<readonly (readonly [path: string, line: number])[]> => {
  const printed = await tree.run('oxlint/bin/oxlint', '--format', 'json', 'src', 'db');
  const { diagnostics } = printed as Report;
  return diagnostics.map(({ filename, labels }) => [filename, labels[0]?.span.line ?? 0] as const);
};

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

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { plantTree } from '../support/planted-tree.ts';

const aggregate = 'src/domains/domain/attachment/custom-domain.ts';
const liveSince = '      readonly liveSince: Date;\n';

/** The files that tsc names when this field is added to live domains. */
const namedAfterAdding = async (field: string): Promise<readonly string[]> => {
  const source = await readFile(resolve(import.meta.dirname, '../..', aggregate), 'utf8');
  expect(source.split(liveSince)).toHaveLength(2);
  const planted = source.replace(liveSince, `${liveSince}      ${field}\n`);
  const onlySource = JSON.stringify({ extends: './tsconfig.json', include: ['src'] });
  const copied = ['src', 'package.json', 'tsconfig.json'];
  const tree = await plantTree(copied, { [aggregate]: planted, 'planted.json': onlySource });
  try {
    const report = await tree.print('typescript/bin/tsc', '--noEmit', '--project', 'planted.json');
    expect(report).toContain("Property 'suspended' is missing");
    return [...report.matchAll(/^(src[^(]*)\(/gm)].map(([, file = '']) => file);
  } finally {
    await tree.remove();
  }
};

test('a flag that suspends live domains does not compile until it is stored, printed, shown to the owner, and decides who is served', async () => {
  expect(await namedAfterAdding('readonly suspended?: true;')).toEqual([
    'src/adapters/dashboard/domains/certified.ts',
    'src/adapters/kysely/sites/custom-domain-details.ts',
    'src/app/commands/present-domain.ts',
    'src/domains/domain/attachment/serving.ts',
  ]);
});

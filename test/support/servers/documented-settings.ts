import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = join(import.meta.dirname, '../../..', 'docs', 'operations.md');

/**
 * The settings of another server that docs/operations.md gives, so that tests run with exactly those.
 * @param one a line of the block, or its beginning
 * @returns its lines, without comments
 */
export const documentedSettings = (one: string): readonly string[] => {
  const blocks = readFileSync(page, 'utf8').matchAll(/```(?:conf|ini)\n(.*?)```/gs);
  const lines = [...blocks].map(([, block = '']) =>
    block.split('\n').map((line) => line.replace(/\s+#.*$/, '').trim()),
  );
  const found = lines.find((all) => all.some((line) => line.startsWith(one)));
  if (!found) throw new Error(`no settings with "${one}" in docs/operations.md`);
  return found.filter((line) => line !== '' && !line.startsWith('['));
};

import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { simulatedLives } from '../support/simulated-lives.ts';

const folder = join(import.meta.dirname, '../simulation/stories');

/**
 * The first line of each story states its purpose. A line `# settles` means that its law is checked in good
 * weather.
 */
const stories = await Promise.all(
  globSync('*.txt', { cwd: folder })
    .toSorted()
    .map(async (name) => {
      const file = join(folder, name);
      const text = await readFile(file, 'utf8');
      const [, reaches = ''] = /^# reaches: (.+)$/m.exec(text) ?? [];
      return { name, file, wanted: reaches.split('; '), settles: /^# settles$/m.test(text) };
    }),
);

test.each(stories)(
  '$name reaches $wanted, and breaks no law',
  async ({ file, wanted, settles }) => {
    const { code, lines } = await simulatedLives({
      STORY: file,
      SETTLE: settles ? '1' : '0',
      SHRINK: '0',
    });
    const isReached = (what: string) =>
      lines.some((line) => line.endsWith(` ${what}`) && Number.parseInt(line, 10) > 0);
    expect({ code, missed: wanted.filter((what) => !isReached(what)) }).toEqual({
      code: 0,
      missed: [],
    });
  },
);

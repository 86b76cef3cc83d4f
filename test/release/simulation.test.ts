import { expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulatedLives } from '../support/simulated-lives.ts';

test('forty simulated stores run for twenty days each without breaking a law', async () => {
  const halves = await Promise.all(
    ['11-30', '31-50'].map((SEED) => simulatedLives({ SEED, DAYS: '20', SHRINK: '0' })),
  );
  expect(halves.filter(({ code }) => code !== 0)).toEqual([]);
}, 1_800_000);

test('a simulated life without faults does not depend on randomness in the program', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-stories-'));
  const write = async (seed: string, text: string): Promise<string> => {
    const file = join(folder, `story-${seed}`);
    await writeFile(file, `seed ${seed}, 8 days\n${text}`);
    return file;
  };
  const told = await simulatedLives({ SEED: '2', DAYS: '8', TELL: '1', HISTORY: '1' });
  const steps = told.lines.slice(1).join('\n');
  const histories: string[][] = [];
  for (const seed of ['2', 'another']) {
    const STORY = await write(seed, steps);
    const { code, lines } = await simulatedLives({ STORY, HISTORY: '1' });
    expect(code).toBe(0);
    histories.push(lines.slice(1));
  }
  await rm(folder, { recursive: true });
  expect(histories[1]).toEqual(histories[0]);
});

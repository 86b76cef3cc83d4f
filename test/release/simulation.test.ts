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
}, 7_200_000);

const historyOf = async (seed: string, steps: readonly string[]): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-stories-'));
  const STORY = join(folder, 'story');
  await writeFile(STORY, [`seed ${seed}, 8 days`, ...steps].join('\n'));
  const { code, lines } = await simulatedLives({ STORY, HISTORY: '1' });
  await rm(folder, { recursive: true });
  expect(code).toBe(0);
  return lines.slice(1);
};

/** The sum of the waits is near a full hour, so chance would decide in which hour the message arrives. */
const lateMessage = [
  '0 00:05:00 weather receiver north refusing',
  '0 00:10:00 north adds www.north.test',
  '0 00:45:00 north publishes www.north.test',
  '0 20:00:00 weather receiver north well',
];

test('a simulated life without faults does not depend on randomness in the program', async () => {
  const told = await simulatedLives({ SEED: '2', DAYS: '8', TELL: '1', HISTORY: '1' });
  for (const steps of [lateMessage, told.lines.slice(1)])
    expect(await historyOf('3', steps)).toEqual(await historyOf('2', steps));
});

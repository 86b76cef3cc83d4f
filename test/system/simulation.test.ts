import { expect, test } from '@jest/globals';
import { newFakeClock } from '../lab/fake-clock.ts';
import { simulated, simulatedLives } from '../support/simulated-lives.ts';

const days = '2';

const seedLines = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line.startsWith('seed '));

test('four simulated stores run through their stories without breaking a law, and a seed always gives the same result', async () => {
  const lives = await simulatedLives({ SEED: '1-4', DAYS: days, SHRINK: '0' });
  expect(lives).toMatchObject({ code: 0, lines: expect.any(Array) });
  const [, second] = seedLines(lives.lines);

  const clock = await newFakeClock();
  await clock.advance(400 * 86_400);
  const later = await simulatedLives({ SEED: '2', DAYS: days, SHRINK: '0', ...clock.settings });
  await clock.remove();
  expect(seedLines(later.lines)).toEqual([second]);
}, 900_000);

test('no flow that a newcomer would follow opens more files than its limit', async () => {
  expect(await simulated('opened-files.ts')).toMatchObject({ code: 0 });
}, 900_000);

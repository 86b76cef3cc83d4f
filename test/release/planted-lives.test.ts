import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyProject, type CopiedProject } from '../plants/copied-project.ts';
import { readPlantedLives } from '../simulation/plants/plant.ts';
import { simulatedLives } from '../support/simulated-lives.ts';

const planted = await readPlantedLives();

let copy: CopiedProject;
beforeAll(async () => {
  copy = await copyProject();
});
afterAll(() => copy.remove());

test.each(planted)('$name is detected: $promise', async ({ law, patch, story }) => {
  await copy.apply(patch);
  try {
    const { code, lines } = await simulatedLives({ STORY: story, SHRINK: '0' }, copy.folder);
    expect({ code, said: lines.join('\n') }).toEqual({
      code: 1,
      said: expect.stringContaining(`"${law}" is broken`),
    });
  } finally {
    await copy.takeBack(patch);
  }
});

test.each(planted)('the story of $name breaks no law without that fault', async ({ story }) => {
  expect(await simulatedLives({ STORY: story, SHRINK: '0' })).toMatchObject({ code: 0 });
});

test('there are at least fifteen planted lives', () => {
  expect(planted.length).toBeGreaterThanOrEqual(15);
});

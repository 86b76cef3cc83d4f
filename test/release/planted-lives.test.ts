import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyProject, type CopiedProject } from '../plants/copied-project.ts';
import { readPlantedLives } from '../simulation/plants/plant.ts';

const root = resolve(import.meta.dirname, '../..');
const planted = await readPlantedLives();

let copy: CopiedProject;
beforeAll(async () => {
  copy = await copyProject();
});
afterAll(() => copy.remove());

interface Lived {
  readonly code: number;
  readonly said: string;
}

/** @param folder of a project, whose simulated store lives through the story */
const live = (folder: string, story: string): Promise<Lived> =>
  new Promise((done) => {
    const child = execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', 'test/simulation/main.ts'],
      { cwd: folder, env: { ...process.env, STORY: story, SHRINK: '0' }, maxBuffer: 2 ** 26 },
      (_error, stdout, stderr) => {
        done({ code: child.exitCode ?? -1, said: stdout + stderr });
      },
    );
  });

test.each(planted)('$name is found: $promise', async ({ law, patch, story }) => {
  await copy.apply(patch);
  try {
    const lived = await live(copy.folder, story);
    expect(lived).toEqual({ code: 1, said: expect.stringContaining(`"${law}" is broken`) });
  } finally {
    await copy.takeBack(patch);
  }
});

test.each(planted)('the story of $name breaks no law without it', async ({ story }) => {
  expect(await live(root, story)).toMatchObject({ code: 0 });
});

test('there are at least fifteen', () => {
  expect(planted.length).toBeGreaterThanOrEqual(15);
});

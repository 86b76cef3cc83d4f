import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { readPlants } from '../plants/plant.ts';
import { readPlantedLives } from '../simulation/plants/plant.ts';

const run = promisify(execFile);

test('every planted fault still fits the code, so that it can be planted before a release', async () => {
  const patches = [...(await readPlants()), ...(await readPlantedLives())].map(
    ({ patch }) => patch,
  );
  const misfits: string[] = [];
  for (const patch of patches) {
    await run('git', ['apply', '--check', '--whitespace=nowarn', patch]).catch((error: unknown) => {
      misfits.push(String(error));
    });
  }
  expect(misfits).toEqual([]);
});

test('every planted fault names test files that exist', async () => {
  const files = globSync('test/**/*.test.ts', { exclude: ['**/node_modules'] });
  const plants = await readPlants();
  const alone = plants.filter((plant) => !files.some((file) => plant.files.test(file)));
  expect(alone.map(({ name }) => name)).toEqual([]);
});

import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A small patch of src, and a story in which a simulated store with it breaks a law. */
export interface PlantedLife {
  readonly name: string;
  /** What the product promises, and the patch takes away. */
  readonly promise: string;
  readonly law: string;
  readonly patch: string;
  readonly story: string;
}

/** All of this folder, sorted by name. @throws Error that names what has no law */
export const readPlantedLives = (): Promise<readonly PlantedLife[]> =>
  Promise.all(
    globSync('*.patch', { cwd: import.meta.dirname })
      .toSorted()
      .map((file) => readPlantedLife(file.replace(/\.patch$/, ''))),
  );

const readPlantedLife = async (name: string): Promise<PlantedLife> => {
  const [patch, story] = ['patch', 'txt'].map((end) =>
    join(import.meta.dirname, `${name}.${end}`),
  ) as [string, string];
  const [, promise] = /^# promise: (.+)$/m.exec(await readFile(patch, 'utf8')) ?? [];
  const [, law] = /^# law: (.+)$/m.exec(await readFile(story, 'utf8')) ?? [];
  if (promise === undefined || law === undefined) {
    throw new Error(
      `test/simulation/plants/${name} needs "# promise: …" in its patch and "# law: …" in its story.`,
    );
  }
  return { name, promise, law, patch, story };
};

import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A small patch of src and a story in which the patched store breaks a law. */
export interface PlantedLife {
  readonly name: string;
  /** The product's promise that the patch breaks. */
  readonly promise: string;
  readonly law: string;
  readonly patch: string;
  readonly story: string;
}

/** Reads all plants of this folder, sorted by name. @throws Error that names those without a law */
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

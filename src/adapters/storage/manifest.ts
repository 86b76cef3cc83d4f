import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { StoredFile } from '../../sites/ports.ts';

/** A form that there is not has no field: JSON knows no undefined. */
const Manifest = v.array(
  v.object({
    path: v.string(),
    bytes: v.number(),
    hash: v.string(),
    brotli: v.optional(v.number()),
    gzip: v.optional(v.number()),
  }),
);

const manifestIn = (folder: string): string => join(folder, 'manifest.json');

/** Durable when it returns. */
export const writeManifest = (folder: string, files: readonly StoredFile[]): Promise<void> =>
  writeFile(manifestIn(folder), JSON.stringify(files), { mode: 0o600, flush: true });

/** @throws ValiError or SyntaxError for one that we did not write; whatever the file system says */
export const readManifest = async (folder: string): Promise<readonly StoredFile[]> => {
  const files = v.parse(Manifest, JSON.parse(await readFile(manifestIn(folder), 'utf8')));
  return files.map(({ brotli, gzip, ...file }) => ({ ...file, brotli, gzip }));
};

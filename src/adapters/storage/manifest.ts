import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { StoredFile } from '../../sites/ports.ts';

/** The files of a deploy in JSON, where a form that there is not has no field. */
const StoredFiles = v.pipe(
  v.array(
    v.object({
      path: v.string(),
      bytes: v.number(),
      hash: v.string(),
      brotli: v.optional(v.number()),
      gzip: v.optional(v.number()),
    }),
  ),
  v.transform((files): readonly StoredFile[] =>
    files.map(({ brotli, gzip, ...file }) => ({ ...file, brotli, gzip })),
  ),
);

/** What it is called within its deploy. */
export const manifestName = 'manifest.json';

/** Durable when it returns. */
export const writeManifest = (folder: string, files: readonly StoredFile[]): Promise<void> =>
  writeFile(join(folder, manifestName), JSON.stringify(files), { mode: 0o600, flush: true });

/** @throws ValiError or SyntaxError for one that we did not write; whatever the file system says */
export const readManifest = async (folder: string): Promise<readonly StoredFile[]> =>
  parseManifest(await readFile(join(folder, manifestName), 'utf8'));

/** @throws ValiError or SyntaxError for one that we did not write */
export const parseManifest = (text: string): readonly StoredFile[] =>
  v.parse(StoredFiles, JSON.parse(text));

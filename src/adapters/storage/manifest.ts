import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Encoding, StoredFile } from '../../sites/ports.ts';

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

export const manifestName = 'manifest.json';

export const writeManifest = (folder: string, files: readonly StoredFile[]): Promise<void> =>
  writeFile(join(folder, manifestName), JSON.stringify(files), { mode: 0o600, flush: true });

export const readManifest = async (folder: string): Promise<readonly StoredFile[]> =>
  parseManifest(await readFile(join(folder, manifestName), 'utf8'));

export const parseManifest = (text: string): readonly StoredFile[] =>
  v.parse(StoredFiles, JSON.parse(text));

export interface StoredForm {
  readonly encoding: Encoding;
  readonly name: string;
  readonly bytes: number;
}

/** Refuses ids that are unsafe in paths and keys. @throws Error */
export const checkedId = (deployId: string): string => {
  if (!/^[A-Za-z0-9_-]+$/.test(deployId)) throw new Error(`no deploy has the id ${deployId}`);
  return deployId;
};

export const formOf = (file: StoredFile, encoding: Encoding): StoredForm => {
  const { name, bytes } = formsOf(file)[encoding];
  if (bytes === undefined || !/^[A-Za-z0-9_-]{43}$/.test(file.hash)) {
    throw new Error(`no file is stored as ${name}`);
  }
  return { encoding, name, bytes };
};

export const storedForms = (file: StoredFile): readonly StoredForm[] =>
  Object.values(formsOf(file)).flatMap(({ encoding, name, bytes }) =>
    bytes === undefined ? [] : [{ encoding, name, bytes }],
  );

export const oneForEach = (files: readonly StoredFile[]): readonly StoredFile[] => [
  ...new Map(files.map((file) => [file.hash, file])).values(),
];

const formsOf = ({ hash, bytes, brotli, gzip }: StoredFile) =>
  ({
    identity: { encoding: 'identity', name: hash, bytes },
    br: { encoding: 'br', name: `${hash}.br`, bytes: brotli },
    gzip: { encoding: 'gzip', name: `${hash}.gz`, bytes: gzip },
  }) as const satisfies {
    readonly [One in Encoding]: { encoding: One; name: string; bytes: number | undefined };
  };

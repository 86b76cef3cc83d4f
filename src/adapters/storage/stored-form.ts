import type { Encoding, StoredFile } from '../../sites/ports.ts';

/** A content as it is stored: what it is called within its deploy, and how long it is. */
export interface StoredForm {
  readonly encoding: Encoding;
  readonly name: string;
  readonly bytes: number;
}

/** No name from outside becomes part of a path or a key. @throws Error */
export const checkedId = (deployId: string): string => {
  if (!/^[A-Za-z0-9_-]+$/.test(deployId)) throw new Error(`no deploy has the id ${deployId}`);
  return deployId;
};

/** @throws Error when the file is not stored in this form */
export const formOf = (file: StoredFile, encoding: Encoding): StoredForm => {
  const { name, bytes } = formsOf(file)[encoding];
  if (bytes === undefined || !/^[A-Za-z0-9_-]{43}$/.test(file.hash)) {
    throw new Error(`no file is stored as ${name}`);
  }
  return { encoding, name, bytes };
};

/** All that there are of a file. */
export const storedForms = (file: StoredFile): readonly StoredForm[] =>
  Object.values(formsOf(file)).flatMap(({ encoding, name, bytes }) =>
    bytes === undefined ? [] : [{ encoding, name, bytes }],
  );

/** One file for each content: files with the same content share what is stored. */
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

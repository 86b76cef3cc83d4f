import { join } from 'node:path';
import type { StoredFile } from '../../../sites/ports.ts';
import { storedForms } from '../stored-form.ts';
import type { S3Store } from './s3-store.ts';

interface Contents {
  /** Where they lie on this machine, under the names that they get in the store. */
  readonly folder: string;
  /** In front of their names. */
  readonly prefix: string;
  readonly files: readonly StoredFile[];
}

/**
 * Uploads the contents of a deploy, each once, many at a time. After a failure none is on its way any more.
 * @param onProgress files stored so far
 */
export const uploadContents = async (
  store: S3Store,
  { folder, prefix, files }: Contents,
  onProgress: (files: number) => void,
): Promise<void> => {
  const failed = new AbortController();
  let done = 0;
  /** @param same files with the same content */
  const upload = async (same: readonly StoredFile[]): Promise<void> => {
    try {
      const forms = same.slice(0, 1).flatMap(storedForms);
      await allSettled(
        forms.map(({ name, bytes }) =>
          store.writeFile(prefix + name, { path: join(folder, name), bytes }, failed.signal),
        ),
      );
      done += same.length;
      onProgress(done);
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  await allSettled([...Map.groupBy(files, ({ hash }) => hash).values()].map(upload));
};

/** Waits for all of them, even if one fails. */
const allSettled = async (work: readonly Promise<void>[]): Promise<void> => {
  await Promise.allSettled(work);
  await Promise.all(work);
};

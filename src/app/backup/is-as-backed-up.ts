import { createHash } from 'node:crypto';
import PQueue from 'p-queue';
import { oneForEach, storedForms } from '../../adapters/storage/stored-form.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { Encoding, SiteFiles, StoredFile } from '../../sites/ports.ts';
import type { Content, DeployList } from './manifest.ts';

const filesAtOnce = 8;

/**
 * Whether the storage has a deploy exactly as it was backed up. Reads all of it: a list that is right says nothing about
 * what it names, which may be missing, or replaced by something of the same length.
 */
export const isAsBackedUp = async (
  files: SiteFiles,
  deployId: string,
  { contents, files: listed }: DeployList,
): Promise<boolean> => {
  const queue = new PQueue({ concurrency: filesAtOnce });
  const forms = oneForEach(listed).flatMap((file) =>
    storedForms(file).map(({ name, encoding }) => ({ file, encoding, content: contents[name] })),
  );
  try {
    const found = await queue.addAll(
      forms.map(({ file, encoding, content }) => async () => {
        const stored = await contentIn(files, { deployId, file, encoding });
        return stored.sha256 === content?.sha256 && stored.bytes === content.bytes;
      }),
    );
    return found.every((isRight) => isRight);
  } catch (error) {
    // Missing, cut off or no answer. If the storage is away, putting it back fails as well.
    if (error instanceof Unavailable) return false;
    throw error;
  } finally {
    queue.clear();
    await queue.onIdle();
  }
};

interface Form {
  readonly deployId: string;
  readonly file: StoredFile;
  readonly encoding: Encoding;
}

const contentIn = async (
  files: SiteFiles,
  { deployId, file, encoding }: Form,
): Promise<Content> => {
  const sum = createHash('sha256');
  let bytes = 0;
  for await (const piece of files.read(deployId, file, encoding)) {
    sum.update(piece);
    bytes += piece.length;
  }
  return { sha256: sum.digest('hex'), bytes };
};

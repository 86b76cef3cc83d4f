import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { StoredFile } from '../../../sites/ports.ts';
import { manifestName, storedForms } from '../manifest.ts';
import type { S3Store } from './s3-store.ts';

export interface S3Draft {
  readonly deployId: string;
  readonly token: string;
}

/**
 * Stores drafts of deploys and publishes them. A deploy exists if its manifest exists, which is written last and
 * removed first. Until then, a mark names the current draft. If the mark is gone, another process removed the draft,
 * and it must not be published.
 */
export class S3Drafts {
  readonly #store: S3Store;
  readonly #removals = new Map<string, Promise<void>>();

  constructor(store: S3Store) {
    this.#store = store;
  }

  async start(deployId: string): Promise<S3Draft> {
    await this.remove(deployId);
    const token = randomUUID();
    await this.#store.write(markOf(deployId), Buffer.from(token));
    return { deployId, token };
  }

  async publish(
    draft: S3Draft,
    { folder, files }: { readonly folder: string; readonly files: readonly StoredFile[] },
    onStored: (files: number) => void,
  ): Promise<void> {
    const { deployId } = draft;
    await uploadContents(this.#store, { folder, prefix: `${deployId}/`, files }, onStored);
    await this.#confirm(draft);
    await this.#store.write(manifestOf(deployId), Buffer.from(JSON.stringify(files)));
    // A removal deletes the mark before the manifest, so this second check finds one that the first missed.
    await this.#confirm(draft);
    await this.#store.remove(markOf(deployId));
  }

  /** Joins a removal in progress, because removing a large deploy may take longer than a request. */
  remove(deployId: string): Promise<void> {
    const running = this.#removals.get(deployId);
    if (running) return running;
    const removal = this.#remove(deployId).finally(() => {
      this.#removals.delete(deployId);
    });
    this.#removals.set(deployId, removal);
    return removal;
  }

  async #remove(deployId: string): Promise<void> {
    await this.#store.remove(markOf(deployId));
    await this.#store.remove(manifestOf(deployId));
    await this.#store.removeAll(`${deployId}/`);
  }

  async #confirm({ deployId, token }: S3Draft): Promise<void> {
    const found = await this.#store.read(markOf(deployId));
    if (found?.toString() === token) return;
    await this.remove(deployId);
    throw new Error(`${deployId} was removed meanwhile`);
  }
}

const markOf = (deployId: string): string => `${deployId}/draft`;
const manifestOf = (deployId: string): string => `${deployId}/${manifestName}`;

interface Contents {
  readonly folder: string;
  readonly prefix: string;
  readonly files: readonly StoredFile[];
}

/** Uploads contents, and returns only after all uploads have ended, even on failure. @param onProgress files stored so far */
const uploadContents = async (
  store: S3Store,
  { folder, prefix, files }: Contents,
  onProgress: (files: number) => void,
): Promise<void> => {
  const failed = new AbortController();
  let done = 0;
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

const allSettled = async (work: readonly Promise<void>[]): Promise<void> => {
  await Promise.allSettled(work);
  await Promise.all(work);
};

import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import PQueue from 'p-queue';
import type { ReadForm, SiteDraft, StoredFile } from '../../sites/ports.ts';
import { stored } from './failure.ts';
import { flush } from './flush.ts';
import { writeManifest } from './manifest.ts';
import { isCompressible, writeSmallerForms, type Effort } from './smaller-forms.ts';
import { formOf, oneForEach, storedForms } from './stored-form.ts';

/** As many as Node has threads for files. */
const atOnce = 4;
/** The best compression takes a second and a half for each MiB: a large site gets it for this much, in order. */
const bestEffortBytes = 16 * 1024 * 1024;

interface Content {
  readonly hash: string;
  readonly bytes: number;
  readonly paths: string[];
}

/** Fills the folder `partial` and names it `whole` at the end. A path of the site is never a path in there. */
export class FileSystemDraft implements SiteDraft {
  readonly #partial: string;
  readonly #whole: string;
  readonly #contents = new Map<string, Content>();
  #received = 0;
  /** One after the other, because more would take Node's threads from other work. */
  readonly #compressing = new PQueue({ concurrency: 1 });
  #compressed = 0;

  constructor(partial: string, whole: string) {
    this.#partial = partial;
    this.#whole = whole;
  }

  async write(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    this.#received += 1;
    const incoming = join(this.#partial, `${String(this.#received)}.incoming`);
    try {
      const { hash, bytes } = await receive(incoming, content);
      await stored(() => rename(incoming, join(this.#partial, hash)));
      const known = this.#contents.get(hash);
      if (known) known.paths.push(path);
      else this.#contents.set(hash, { hash, bytes, paths: [path] });
    } catch (error) {
      await rm(incoming, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async commit(onProgress: (files: number) => void, wrapping = ''): Promise<void> {
    const files: StoredFile[] = [];
    const tasks = [...this.#contents.values()].map((content) => async () => {
      files.push(...(await stored(() => this.#prepare(content))));
      onProgress(files.length);
    });
    await all(tasks);
    const unwrapped = files.map((file) => ({ ...file, path: file.path.slice(wrapping.length) }));
    await stored(() => this.#publish(unwrapped));
  }

  /** Instead of `write` and `commit`: stores what another storage has prepared. */
  async putBack(files: readonly StoredFile[], read: ReadForm): Promise<void> {
    const tasks = oneForEach(files).map((file) => async () => {
      for (const { encoding } of storedForms(file)) {
        const path = join(this.#partial, formOf(file, encoding).name);
        await receive(path, read(file, encoding));
        await stored(() => flush(path));
      }
    });
    await all(tasks);
    await stored(() => this.#publish(files));
  }

  async #prepare({ hash, bytes, paths }: Content): Promise<readonly StoredFile[]> {
    const file = join(this.#partial, hash);
    const { brotli, gzip } = paths.some(isCompressible)
      ? await this.#compressing.add(() => writeSmallerForms(file, bytes, this.#effortFor(bytes)))
      : { brotli: undefined, gzip: undefined };
    await flush(file);
    if (brotli !== undefined) await flush(`${file}.br`);
    if (gzip !== undefined) await flush(`${file}.gz`);
    return paths.map((path) => ({ path, bytes, hash, brotli, gzip }));
  }

  #effortFor(bytes: number): Effort {
    this.#compressed += bytes;
    return this.#compressed <= bestEffortBytes ? 'best' : 'quick';
  }

  async #publish(files: readonly StoredFile[]): Promise<void> {
    await writeManifest(this.#partial, files);
    await flush(this.#partial);
    await rename(this.#partial, this.#whole);
    await flush(dirname(this.#whole));
  }
}

/** A few at a time. */
const all = async (tasks: readonly (() => Promise<void>)[]): Promise<void> => {
  const queue = new PQueue({ concurrency: atOnce });
  try {
    await queue.addAll(tasks);
  } finally {
    // A failed draft is removed: no writer may still be at work in it.
    queue.clear();
    await queue.onIdle();
  }
};

const receive = async (path: string, content: AsyncIterable<Uint8Array>) => {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await stored(() => open(path, 'wx', 0o600));
  try {
    for await (const chunk of content) {
      bytes += chunk.length;
      hash.update(chunk);
      await stored(() => file.appendFile(chunk));
    }
  } finally {
    await stored(() => file.close());
  }
  return { hash: hash.digest('base64url'), bytes };
};

import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import PQueue from 'p-queue';
import { Unavailable } from '../../kernel/ports.ts';
import {
  SiteFiles,
  type Encoding,
  type ReadForm,
  type SiteDraft,
  type StoredFile,
} from '../../sites/ports.ts';
import { flush, ignoreMissing, OpenFiles, stored } from './files.ts';
import {
  checkedId,
  formOf,
  oneForEach,
  readManifest,
  storedForms,
  writeManifest,
} from './manifest.ts';
import { isCompressible, writeSmallerForms, type Effort } from './smaller-forms.ts';

const pieceBytes = 64 * 1024;

/**
 * Stores one folder per deploy: `manifest.json` and each content as `<hash>`, `<hash>.br` and `<hash>.gz`. An
 * unfinished deploy is in `.<deployId>.partial`. Renaming makes a deploy appear and disappear atomically.
 */
export class FileSystemSiteFiles extends SiteFiles {
  readonly #folder: string;
  readonly #open = new OpenFiles();

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  override begin(deployId: string): Promise<SiteDraft> {
    return this.#draft(deployId);
  }

  override async putBack(
    deployId: string,
    files: readonly StoredFile[],
    read: ReadForm,
  ): Promise<void> {
    const draft = await this.#draft(deployId);
    try {
      await draft.putBack(files, read);
    } catch (error) {
      await this.remove(deployId).catch(() => undefined);
      throw error;
    }
  }

  async #draft(deployId: string): Promise<FileSystemDraft> {
    const { whole, partial } = this.#placesOf(deployId);
    await this.remove(deployId);
    await stored(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await mkdir(partial, { mode: 0o700 });
    });
    return new FileSystemDraft(partial, whole);
  }

  override async list(deployId: string): Promise<readonly StoredFile[] | undefined> {
    const { whole } = this.#placesOf(deployId);
    return stored(() => readManifest(whole).catch(ignoreMissing));
  }

  override async *read(
    deployId: string,
    file: StoredFile,
    encoding: Encoding,
    range?: { readonly first: number; readonly last: number },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { name, bytes } = formOf(file, encoding);
    const path = join(this.#placesOf(deployId).whole, name);
    const first = range?.first ?? 0;
    const end = Math.min((range?.last ?? Infinity) + 1, bytes);
    try {
      for (let position = first; position < end;) {
        const length = Math.min(pieceBytes, end - position);
        const piece = await this.#open.read(path, position, length);
        if (piece.length === 0) throw new Error(`${path} is shorter than it was stored`);
        position += piece.length;
        yield piece;
      }
    } catch (error) {
      throw new Unavailable('The storage', error);
    }
  }

  override async remove(deployId: string): Promise<void> {
    const { whole, partial } = this.#placesOf(deployId);
    this.#open.forget(whole);
    await stored(async () => {
      await discard(partial);
      await rename(whole, partial).catch(ignoreMissing);
      // This repeats the call for files opened meanwhile. Later readers cannot find them by path.
      this.#open.forget(whole);
      await discard(partial);
    });
  }

  #placesOf(deployId: string): { readonly whole: string; readonly partial: string } {
    return {
      whole: join(this.#folder, checkedId(deployId)),
      partial: join(this.#folder, `.${deployId}.partial`),
    };
  }
}

const discard = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

const atOnce = 4;
/** The best compression takes 1.5 s per MiB, so only the first 16 MiB of a site get it. */
const bestEffortBytes = 16 * 1024 * 1024;

interface Content {
  readonly hash: string;
  readonly bytes: number;
  readonly paths: string[];
}

class FileSystemDraft implements SiteDraft {
  readonly #partial: string;
  readonly #whole: string;
  readonly #contents = new Map<string, Content>();
  #received = 0;
  /** Compresses one file at a time, because more would block Node's thread pool. */
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

const all = async (tasks: readonly (() => Promise<void>)[]): Promise<void> => {
  const queue = new PQueue({ concurrency: atOnce });
  try {
    await queue.addAll(tasks);
  } finally {
    // A failed draft is removed, so no writer may use it any longer.
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

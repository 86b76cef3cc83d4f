import { open, type FileHandle } from 'node:fs/promises';
import { sep } from 'node:path';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { DomainError } from '../../kernel/decision.ts';
import { Unavailable } from '../../kernel/ports.ts';
import type { UploadProblem } from '../../sites/domain/sites-error.ts';

const most = {
  open: 128,
  /** Node reads files with four threads, so more would only wait. */
  readAtOnce: 32,
};
/** This is short, because a removed file uses disk space while it is open. */
const idleMs = 1_000;

interface OpenFile {
  readonly handle: Promise<FileHandle>;
  readers: number;
}

/** Shares few descriptors among any number of readers. A file stays open briefly for the next piece. */
export class OpenFiles {
  readonly #files = new LRUCache<string, OpenFile>({
    max: most.open,
    ttl: idleMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: close,
  });
  readonly #queue = new PQueue({ concurrency: most.readAtOnce });

  /** @returns fewer than `length` bytes at the end of the file, and none after it */
  read(path: string, position: number, length: number): Promise<Uint8Array> {
    return this.#queue.add(() => this.#readNow(path, position, length));
  }

  async #readNow(path: string, position: number, length: number): Promise<Uint8Array> {
    const file = this.#take(path);
    try {
      const handle = await file.handle;
      const buffer = Buffer.allocUnsafe(length);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      if (this.#files.peek(path) === file) this.#files.delete(path);
      throw error;
    } finally {
      file.readers -= 1;
      if (this.#files.peek(path, { allowStale: true }) !== file) close(file);
    }
  }

  forget(folder: string): void {
    for (const path of this.#files.keys()) {
      if (path.startsWith(`${folder}${sep}`)) this.#files.delete(path);
    }
  }

  #take(path: string): OpenFile {
    const known = this.#files.get(path);
    const file = known ?? { handle: open(path), readers: 0 };
    file.readers += 1;
    if (!known) this.#files.set(path, file);
    return file;
  }
}

const close = (file: OpenFile): void => {
  if (file.readers === 0) void file.handle.then((handle) => handle.close()).catch(() => undefined);
};

/** Makes a file's content, or a folder's list, survive a power cut. */
export const flush = async (path: string): Promise<void> => {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

const systemCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

export const ignoreMissing = (error: unknown): undefined => {
  if (systemCode(error) !== 'ENOENT') throw error;
};

/** Translates file system errors. @throws DomainError `storage_full`, Unavailable */
export const stored = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw failure(error);
  }
};

const failure = (error: unknown): Error => {
  const code = systemCode(error);
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return new Unavailable('The storage', error);
  return new DomainError<UploadProblem>(
    'storage_full',
    'There is no room left for this deploy on the server. Try again later, or publish less.',
  );
};

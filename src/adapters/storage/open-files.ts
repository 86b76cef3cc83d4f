import { open, type FileHandle } from 'node:fs/promises';
import { sep } from 'node:path';
import PQueue from 'p-queue';

const most = {
  open: 128,
  /** More would only wait for the four threads that Node reads files with. */
  readAtOnce: 32,
};
/** Short, because a removed file that is open still takes disk space. */
const idleMs = 1_000;

interface OpenFile {
  readonly handle: Promise<FileHandle>;
  readers: number;
  usedSinceSweep: boolean;
}

/**
 * Files that are read piece by piece, by any number of readers over a bounded number of descriptors. A reader has a
 * file only while it reads a piece. The file stays open for a moment, because the next piece is mostly wanted soon.
 */
export class OpenFiles {
  /** By path; the one that was not used for longest is the first. */
  readonly #files = new Map<string, OpenFile>();
  readonly #turns = new PQueue({ concurrency: most.readAtOnce });
  #sweep: NodeJS.Timeout | undefined;

  /** @returns fewer bytes than `length` at the end of the file, none behind it */
  read(path: string, position: number, length: number): Promise<Uint8Array> {
    return this.#turns.add(() => this.#readNow(path, position, length));
  }

  async #readNow(path: string, position: number, length: number): Promise<Uint8Array> {
    const file = this.#take(path);
    try {
      const handle = await file.handle;
      const buffer = Buffer.allocUnsafe(length);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      this.#drop(path, file);
      throw error;
    } finally {
      file.readers -= 1;
      if (this.#files.get(path) !== file) close(file);
    }
  }

  /** Stops reading files of a folder that is removed or replaced. */
  forget(folder: string): void {
    for (const [path, file] of this.#files) {
      if (path.startsWith(`${folder}${sep}`)) this.#drop(path, file);
    }
  }

  #take(path: string): OpenFile {
    const file = this.#files.get(path) ?? this.#open(path);
    file.readers += 1;
    file.usedSinceSweep = true;
    this.#files.delete(path);
    this.#files.set(path, file);
    this.#sweep ??= setInterval(() => {
      this.#closeIdle();
    }, idleMs).unref();
    return file;
  }

  #open(path: string): OpenFile {
    if (this.#files.size >= most.open) this.#closeOldest();
    return { handle: open(path), readers: 0, usedSinceSweep: true };
  }

  /** There is one without readers: fewer read at once than may be open. */
  #closeOldest(): void {
    for (const [path, file] of this.#files) {
      if (file.readers > 0) continue;
      this.#drop(path, file);
      return;
    }
  }

  #closeIdle(): void {
    for (const [path, file] of this.#files) {
      if (file.readers === 0 && !file.usedSinceSweep) this.#drop(path, file);
      file.usedSinceSweep = false;
    }
    if (this.#files.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #drop(path: string, file: OpenFile): void {
    if (this.#files.get(path) === file) this.#files.delete(path);
    close(file);
  }
}

/** Its last reader closes a file that is still being read. Failing to open or close one leaves nothing open. */
const close = (file: OpenFile): void => {
  if (file.readers === 0) void file.handle.then((handle) => handle.close()).catch(() => undefined);
};

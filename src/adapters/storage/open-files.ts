import { open, type FileHandle } from 'node:fs/promises';
import { sep } from 'node:path';

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
  readonly #waiting: (() => void)[] = [];
  #reading = 0;
  #sweep: NodeJS.Timeout | undefined;

  /** @returns fewer bytes than `length` at the end of the file, none behind it */
  async read(path: string, position: number, length: number): Promise<Uint8Array> {
    await this.#turn();
    const file = this.#take(path);
    try {
      const handle = await file.handle;
      const { bytesRead, buffer } = await handle.read(
        Buffer.allocUnsafe(length),
        0,
        length,
        position,
      );
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      this.#drop(path, file);
      throw error;
    } finally {
      file.readers -= 1;
      if (this.#files.get(path) !== file) close(file);
      this.#next();
    }
  }

  /** Stops reading files of a folder that is removed or replaced. */
  forget(folder: string): void {
    for (const [path, file] of this.#files) {
      if (path.startsWith(`${folder}${sep}`)) this.#drop(path, file);
    }
  }

  async #turn(): Promise<void> {
    if (this.#reading < most.readAtOnce) this.#reading += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Hands the turn to a waiting reader. */
  #next(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#reading -= 1;
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

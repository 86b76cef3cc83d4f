import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const hour = 60 * 60 * 1000;

/** How the names of files end that are being written. */
export const incoming = '.incoming';

/** Nobody asks for the files of a removed deploy any more. */
const unusedMs = 7 * 24 * hour;
/** Nobody writes one file for so long: a process died. */
const writtenMs = hour;
/** Of the room: above the first, files are removed down to the second. */
const share = { full: 0.9, cleared: 0.8, least: 0.02 };
/** Processes that may fill one folder at once without going beyond its room: none sees what the others add. */
const rivals = 4;

interface CachedFile {
  readonly path: string;
  readonly bytes: number;
  readonly usedAt: number;
}

/**
 * Keeps a folder of cached files within its room: what was not used for the longest time goes first. The files on the
 * disk are all it knows, so that processes can share a folder and leave it at any moment.
 */
export class CacheRoom {
  readonly #folder: string;
  readonly #mostBytes: number;
  /** Added by this process since the last look. */
  #added = 0;
  /** How much may be added before the next look. */
  #until = 0;
  /** How much may be added at all. Before the first look, what `share.full` leaves. */
  #left: number;
  /** The largest that found no room since the last look. */
  #refused = 0;
  #clearing: Promise<void> | undefined;

  /** @param everyMs how often it looks for what is too old, also where nothing is added */
  constructor(folder: string, mostBytes: number, everyMs = hour) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    setInterval(() => void this.clear(), everyMs).unref();
    this.#left = ((1 - share.full) * mostBytes) / rivals;
  }

  /** @returns false while there is none; some is made meanwhile */
  take(bytes: number): boolean {
    if (this.#added + bytes > this.#until) void this.clear();
    // So large that room for it would take that of all others.
    if (rivals * bytes > this.#mostBytes / 2) return false;
    if (this.#added + bytes > this.#left) {
      this.#refused = Math.max(this.#refused, bytes);
      return false;
    }
    this.#added += bytes;
    return true;
  }

  /** Makes room where it is needed. One after the other, and never throws. */
  clear(): Promise<void> {
    return (this.#clearing ??= this.#look()
      .catch(() => undefined)
      .finally(() => {
        this.#clearing = undefined;
      }));
  }

  async #look(): Promise<void> {
    const before = this.#added;
    const now = Date.now();
    const files = await filesIn(this.#folder);
    const kept = files.filter((file) => !isOld(file, now));
    await remove(files.filter((file) => isOld(file, now)));
    const bytes = await this.#shrink(kept);
    this.#refused = 0;
    this.#added -= before;
    this.#left = (this.#mostBytes - bytes) / rivals;
    const spare = share.full * this.#mostBytes - bytes;
    this.#until = Math.max(spare / rivals, share.least * this.#mostBytes);
  }

  /** @returns how many bytes there are then */
  async #shrink(files: readonly CachedFile[]): Promise<number> {
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const room = this.#mostBytes - rivals * this.#refused;
    if (bytes <= Math.min(room, share.full * this.#mostBytes)) return bytes;
    const enough = Math.min(room, share.cleared * this.#mostBytes);
    for (const file of files.toSorted((one, other) => one.usedAt - other.usedAt)) {
      if (bytes <= enough) break;
      await remove([file]);
      bytes -= file.bytes;
    }
    return bytes;
  }
}

const isOld = ({ path, usedAt }: CachedFile, now: number): boolean =>
  now - usedAt > (path.endsWith(incoming) ? writtenMs : unusedMs);

/** One after the other: Node has four threads for files, and visitors wait for them. */
const filesIn = async (folder: string): Promise<readonly CachedFile[]> => {
  const files: CachedFile[] = [];
  for (const deployId of await namesIn(folder)) {
    const names = await namesIn(join(folder, deployId));
    for (const name of names) {
      const path = join(folder, deployId, name);
      const found = await stat(path).catch(() => undefined);
      if (found) files.push({ path, bytes: found.size, usedAt: found.mtimeMs });
    }
    // Refused as long as there are files in it.
    if (names.length === 0) await rmdir(join(folder, deployId)).catch(() => undefined);
  }
  return files;
};

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);

/** Another process may have removed it already. */
const remove = async (files: readonly CachedFile[]): Promise<void> => {
  for (const { path } of files) await rm(path, { force: true });
};

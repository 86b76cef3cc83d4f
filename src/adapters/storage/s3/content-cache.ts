import { createHash, randomUUID } from 'node:crypto';
import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { OpenFiles } from '../files.ts';
import { minuteMs, hourMs } from '../../../kernel/durations.ts';

const mib = 1024 * 1024;

const most = {
  bytesInMemory: 32 * mib,
  checked: 100_000,
};
/** The checksum precedes each content, because a crash may leave a file without its content. */
const checksumBytes = 32;

interface CacheSettings {
  readonly folder: string;
  readonly mostBytes: number;
  /** Called when the disk refused a content, at most once a minute. */
  readonly onProblem: (error: unknown) => void;
}

export type Fetch = () => Promise<Buffer | undefined>;

/** Caches contents, which never change. Concurrent readers share one fetch; processes may share the folder. */
export class ContentCache {
  readonly #folder: string;
  readonly #room: CacheRoom;
  readonly #onProblem: (error: unknown) => void;
  #toldAt = -Infinity;
  readonly #open = new OpenFiles();
  readonly #checked = new LRUCache<string, number>({ max: most.checked });
  readonly #contents = new LRUCache<string, Buffer, Fetch>({
    maxSize: most.bytesInMemory,
    sizeCalculation: (content) => content.length + 1,
    ignoreFetchAbort: true,
    fetchMethod: (name, _stale, { context: fetch }) => this.#load(name, fetch),
  });

  constructor({ folder, mostBytes, onProblem }: CacheSettings) {
    this.#folder = folder;
    this.#room = new CacheRoom(folder, mostBytes);
    this.#onProblem = onProblem;
  }

  whole(name: string, fetch: Fetch): Promise<Buffer | undefined> {
    return this.#contents.fetch(name, { context: fetch });
  }

  async part(
    name: string,
    { position, bytes }: { readonly position: number; readonly bytes: number },
    fetch: Fetch,
  ): Promise<Uint8Array | undefined> {
    const stored = await this.#partOnDisk(name, position, bytes);
    if (stored) return stored;
    const content = await this.whole(name, fetch);
    return content && Buffer.from(content.subarray(position, position + bytes));
  }

  async forget(deployId: string): Promise<void> {
    const folder = join(this.#folder, deployId);
    this.#open.forget(folder);
    for (const names of [this.#checked, this.#contents]) {
      for (const name of names.keys()) if (name.startsWith(`${deployId}/`)) names.delete(name);
    }
    await rm(folder, { recursive: true, force: true });
  }

  async #partOnDisk(
    name: string,
    position: number,
    bytes: number,
  ): Promise<Uint8Array | undefined> {
    if (!this.#checked.has(name)) return undefined;
    const path = this.#pathOf(name);
    const part = await this.#open
      .read(path, checksumBytes + position, bytes)
      .catch(() => undefined);
    if (part?.length !== bytes) {
      this.#checked.delete(name);
      return undefined;
    }
    this.#markUsed(name, path);
    return part;
  }

  async #load(name: string, fetch: Fetch): Promise<Buffer | undefined> {
    const path = this.#pathOf(name);
    const stored = await readChecked(path);
    if (stored) {
      this.#markUsed(name, path);
      return stored;
    }
    const content = await fetch();
    if (content && (await this.#keep(path, content))) this.#checked.set(name, Date.now());
    return content;
  }

  async #keep(path: string, content: Buffer): Promise<boolean> {
    const bytes = checksumBytes + content.length;
    if (!this.#room.take(bytes)) return false;
    const partial = `${path}.${randomUUID()}${incoming}`;
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(partial, [checksumOf(content), content], { flag: 'wx', mode: 0o600 });
      await rename(partial, path);
      return true;
    } catch (error) {
      await rm(partial, { force: true }).catch(() => undefined);
      this.#tell(error);
      return false;
    }
  }

  #tell(error: unknown): void {
    const now = performance.now();
    if (now - this.#toldAt < minuteMs) return;
    this.#toldAt = now;
    this.#onProblem(error);
  }

  #markUsed(name: string, path: string): void {
    const now = Date.now();
    const isRecent = now - (this.#checked.get(name) ?? 0) < hourMs;
    if (isRecent) return;
    this.#checked.set(name, now);
    void utimes(path, now / 1000, now / 1000).catch(() => undefined);
  }

  #pathOf(name: string): string {
    return join(this.#folder, name);
  }
}

const checksumOf = (content: Uint8Array): Buffer => createHash('sha256').update(content).digest();

const readChecked = async (path: string): Promise<Buffer | undefined> => {
  const file = await readFile(path).catch(() => undefined);
  if (!file) return undefined;
  const content = file.subarray(checksumBytes);
  return checksumOf(content).equals(file.subarray(0, checksumBytes)) ? content : undefined;
};

const incoming = '.incoming';

const unusedMs = 7 * 24 * hourMs;
const writtenMs = hourMs;
/** Shares of the cache's size. Above `full`, files are removed down to `cleared`. */
const share = { full: 0.9, cleared: 0.8, least: 0.02 };
/** This many processes may fill one folder without exceeding its size together. None sees what the others add. */
const rivals = 4;

interface CachedFile {
  readonly path: string;
  readonly bytes: number;
  readonly usedAt: number;
}

export class CacheRoom {
  readonly #folder: string;
  readonly #mostBytes: number;
  #added = 0;
  #until = 0;
  /** Bytes that may still be added. Before the first look, this is the room above `share.full`. */
  #left: number;
  #refused = 0;
  #clearing: Promise<void> | undefined;

  constructor(folder: string, mostBytes: number, everyMs = hourMs) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    setInterval(() => void this.clear(), everyMs).unref();
    this.#left = ((1 - share.full) * mostBytes) / rivals;
  }

  /** Reserves room for a content. @returns false if there is none; room is then made in the background */
  take(bytes: number): boolean {
    if (this.#added + bytes > this.#until) void this.clear();
    // A content this large would evict all others.
    if (rivals * bytes > this.#mostBytes / 2) return false;
    if (this.#added + bytes > this.#left) {
      this.#refused = Math.max(this.#refused, bytes);
      return false;
    }
    this.#added += bytes;
    return true;
  }

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

/** Reads one entry at a time, because visitors share Node's four file threads. */
const filesIn = async (folder: string): Promise<readonly CachedFile[]> => {
  const files: CachedFile[] = [];
  for (const deployId of await namesIn(folder)) {
    const names = await namesIn(join(folder, deployId));
    for (const name of names) {
      const path = join(folder, deployId, name);
      const found = await stat(path).catch(() => undefined);
      if (found) files.push({ path, bytes: found.size, usedAt: found.mtimeMs });
    }
    if (names.length === 0) await rmdir(join(folder, deployId)).catch(() => undefined);
  }
  return files;
};

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);

const remove = async (files: readonly CachedFile[]): Promise<void> => {
  for (const { path } of files) await rm(path, { force: true });
};

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import { flush } from '../../adapters/storage/flush.ts';
import { contentOf, DamagedContent } from './content-of.ts';
import {
  manifestText,
  parseDeployList,
  parseManifest,
  type Content,
  type DeployList,
  DamagedManifest,
  type Manifest,
} from './manifest.ts';

const manifestNames = { last: 'manifest.json', previous: 'manifest.previous.json' };

/** Millions of deploys and files need less: what claims more is no manifest or list of ours, and is not read. */
const mostTextBytes = 256 * 1024 ** 2;

/** A disk of its own has the last one. */
const known = [...Object.values(manifestNames), 'contents', 'incoming', 'lock', 'lost+found'];

/**
 * A folder of backups: `manifest.json` describes the last one, `manifest.previous.json` the one before. `contents` holds all
 * that they name, each under its SHA-256: what two backups share is stored once. A content is flushed before it gets its
 * name and never changes; the manifest is replaced last, in one step. So a run that is killed leaves the last backup whole,
 * and contents that the next run need not copy again. What is being written is in `incoming`.
 */
export class BackupFolder {
  readonly path: string;
  readonly #incoming: string;
  #received = 0;
  /** Folders with new names, which are flushed before the manifest names those. */
  readonly #changed = new Set<string>();

  constructor(path: string) {
    this.path = path;
    this.#incoming = join(path, 'incoming');
  }

  /** Makes the folder. @throws Error when it holds something else */
  async make(): Promise<void> {
    await makeFolder(this.path);
    const names = await readdir(this.path);
    const isOurs = names.every((name) => known.includes(name));
    if (!isOurs) {
      throw new Error(
        `${this.path} holds other files. Name a new folder, or one of earlier backups.`,
      );
    }
    await chmod(this.path, 0o700);
  }

  /** Before anything is written, by one process at a time. */
  async begin(): Promise<void> {
    await rm(this.#incoming, { recursive: true, force: true });
    await mkdir(this.#incoming, { mode: 0o700 });
  }

  /** A path for a file that `adopt` takes. */
  newPath(): string {
    this.#received += 1;
    return join(this.#incoming, String(this.#received));
  }

  /** @returns undefined when there is no backup @throws DamagedManifest, StrangeManifest */
  async manifest(which: keyof typeof manifestNames = 'last'): Promise<Manifest | undefined> {
    const name = manifestNames[which];
    const path = join(this.path, name);
    const found = await stat(path).catch(unlessMissing);
    if (!found) return undefined;
    if (found.size > mostTextBytes) throw new DamagedManifest(`${name} is too large.`);
    return parseManifest(await readFile(path, 'utf8'), name);
  }

  async put(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Content> {
    const path = this.newPath();
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const piece of pieces) await file.appendFile(piece);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    return this.adopt(path);
  }

  /** Takes a whole file. */
  async adopt(path: string): Promise<Content> {
    const content = await contentOf(path);
    const place = this.placeOf(content);
    await flush(path);
    if (!this.#changed.has(dirname(place)))
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    this.#changed.add(dirname(place));
    await rename(path, place);
    return content;
  }

  placeOf({ sha256 }: Pick<Content, 'sha256'>): string {
    return join(this.path, 'contents', sha256.slice(0, 2), sha256);
  }

  /** By its name and length: what it says is only compared by `check`. */
  async has(content: Content): Promise<boolean> {
    const found = await stat(this.placeOf(content)).catch(unlessMissing);
    return found?.size === content.bytes;
  }

  /** In pieces. @throws DamagedContent, at the latest in place of the end */
  async *read({ sha256, bytes }: Content): AsyncGenerator<Uint8Array, void, undefined> {
    const place = this.placeOf({ sha256 });
    const found = await stat(place).catch(unlessMissing);
    if (!found) throw new DamagedContent(`${place} is missing`);
    if (found.size !== bytes) {
      throw new DamagedContent(
        `${place} has ${String(found.size)} bytes instead of ${String(bytes)}`,
      );
    }
    const sum = createHash('sha256');
    for await (const piece of createReadStream(place) as AsyncIterable<Buffer>) {
      sum.update(piece);
      yield piece;
    }
    if (sum.digest('hex') !== sha256) throw new DamagedContent(`${place} was changed`);
  }

  /** @throws DamagedContent, also for what no backup writes */
  async deployList(content: Content): Promise<DeployList> {
    const text = await this.text(content);
    try {
      return parseDeployList(text);
    } catch (cause) {
      const problem = `${this.placeOf(content)} is not a list of files that a backup writes`;
      throw new DamagedContent(problem, { cause });
    }
  }

  /** @throws DamagedContent */
  async text(content: Content): Promise<string> {
    if (content.bytes > mostTextBytes) {
      throw new DamagedContent(`${this.placeOf(content)} is too large`);
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of this.read(content)) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }

  /** @throws DamagedContent */
  async verify(content: Content): Promise<void> {
    const pieces = this.read(content);
    while ((await pieces.next()).done !== true);
  }

  /**
   * Replaces the last backup by this one, in one step, once all that it names is on the disk.
   * @param earlier is the previous one from now on
   */
  async publish(manifest: Manifest, earlier?: Manifest): Promise<void> {
    for (const folder of [...this.#changed, join(this.path, 'contents')]) await flush(folder);
    if (earlier) await this.#replace(manifestNames.previous, earlier);
    await this.#replace(manifestNames.last, manifest);
  }

  async #replace(name: string, manifest: Manifest): Promise<void> {
    const path = this.newPath();
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(manifestText(manifest));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(path, join(this.path, name));
    await flush(this.path);
  }

  /** Removes what no backup names. @param used SHA-256 of each content that one names */
  async removeUnused(used: ReadonlySet<string>): Promise<void> {
    const contents = join(this.path, 'contents');
    for (const folder of await readdir(contents)) {
      for (const name of await readdir(join(contents, folder))) {
        if (!used.has(name)) await rm(join(contents, folder, name));
      }
    }
    await rm(this.#incoming, { recursive: true, force: true });
  }
}

const unlessMissing = (error: unknown): undefined => {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
};

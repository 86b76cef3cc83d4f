import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { FileSystemSiteFiles } from '../../adapters/storage/file-system-site-files.ts';
import { flush } from '../../adapters/storage/files.ts';
import type { SiteFiles } from '../../sites/ports.ts';
import { makeFolder } from '../data-folder.ts';
import { DamagedManifest, manifestText, parseManifest, type Manifest } from './manifest.ts';

const manifestName = 'manifest.json';

const known = /^(manifest\.json|database-.+|deploys|incoming|lock)$/;

/**
 * Flushes everything that a new manifest names, before that manifest replaces the previous one atomically. Other files
 * are deleted afterwards, so a killed run leaves the previous backup intact.
 */
export class BackupFolder {
  readonly path: string;
  readonly deploys: SiteFiles;
  readonly incoming: string;
  readonly #drafts: string;

  constructor(path: string) {
    this.path = path;
    this.deploys = new FileSystemSiteFiles(join(path, 'deploys'));
    this.#drafts = join(path, 'incoming');
    this.incoming = join(this.#drafts, 'database');
  }

  /** @throws Error if the folder contains other files */
  async make(): Promise<void> {
    await makeFolder(this.path);
    const names = (await readdir(this.path)).filter((name) => name !== 'lost+found');
    // A data folder contains deploys too, and a backup would delete them.
    const isOurs = ['lock', manifestName].some((name) => names.includes(name));
    if (names.length > 0 && !(isOurs && names.every((name) => known.test(name)))) {
      throw new Error(
        `${this.path} holds other files. Name a new folder, or the one of an earlier backup.`,
      );
    }
    await chmod(this.path, 0o700);
  }

  /** @returns undefined if there is no backup @throws DamagedManifest, UnsupportedManifest */
  async manifest(): Promise<Manifest | undefined> {
    const text = await readFile(join(this.path, manifestName), 'utf8').catch(unlessMissing);
    return text === undefined ? undefined : parseManifest(text, manifestName);
  }

  get noBackup(): string {
    return `${this.path} holds no complete backup: there is no ${manifestName}.`;
  }

  /** @returns undefined if there is no backup, or a damaged one @throws UnsupportedManifest */
  readableManifest(): Promise<Manifest | undefined> {
    return this.manifest().catch((error: unknown) => {
      if (!(error instanceof DamagedManifest)) throw error;
      return undefined;
    });
  }

  async begin(): Promise<void> {
    await rm(this.#drafts, { recursive: true, force: true });
    await mkdir(this.#drafts, { mode: 0o700 });
  }

  async adopt(
    kind: Manifest['database']['kind'],
    madeAt: string,
  ): Promise<Pick<Manifest['database'], 'kind' | 'file' | 'sha256' | 'bytes'>> {
    const file = `database-${madeAt.replaceAll(':', '-')}.${kind}`;
    const { sha256, bytes } = await contentOf(this.incoming);
    await flush(this.incoming);
    await rename(this.incoming, join(this.path, file));
    return { kind, file, sha256, bytes };
  }

  copyOf({ database }: Manifest): string {
    return join(this.path, database.file);
  }

  async damagedCopy(manifest: Manifest): Promise<string | undefined> {
    const path = this.copyOf(manifest);
    const found = await contentOf(path).catch(unlessMissing);
    if (!found) return `${path} is missing`;
    return found.sha256 === manifest.database.sha256 ? undefined : `${path} was changed`;
  }

  async publish(manifest: Manifest): Promise<void> {
    await flush(this.path);
    const draft = join(this.#drafts, manifestName);
    await writeFile(draft, manifestText(manifest), { mode: 0o600, flush: true });
    await rename(draft, join(this.path, manifestName));
    await flush(this.path);
  }

  async removeUnnamed(backup: Manifest): Promise<void> {
    await rm(this.#drafts, { recursive: true, force: true });
    for (const name of await readdir(this.path)) {
      const isUnnamed = name.startsWith('database-') && name !== backup.database.file;
      if (isUnnamed) await rm(join(this.path, name));
    }
    const deploys = join(this.path, 'deploys');
    for (const name of existsSync(deploys) ? await readdir(deploys) : []) {
      if (Object.hasOwn(backup.deploys, name)) continue;
      if (name.startsWith('.')) await rm(join(deploys, name), { recursive: true });
      else await this.deploys.remove(name);
    }
  }

  /**
   * Runs `work` under a lock. The lock is SQLite's on an empty file, so it ends with the process.
   * @throws Error if it is taken
   */
  async holding<T>(as: 'writer' | 'reader', work: () => Promise<T>): Promise<T> {
    const path = join(this.path, 'lock');
    // A copy of a backup, perhaps on a read-only medium, has no lock and no writers.
    if (as === 'reader' && !existsSync(path)) return work();
    const lock = opened(path, as);
    try {
      if (!isTaken(lock, as)) {
        throw new Error(`${this.path} is in use by another backup, check or restore.`);
      }
      return await work();
    } finally {
      lock.close();
    }
  }
}

const opened = (path: string, as: 'writer' | 'reader'): SqliteDatabase.Database => {
  try {
    return new SqliteDatabase(path, { timeout: 0, readonly: as === 'reader' });
  } catch (cause) {
    throw new Error(`${path} cannot be opened. Give this user access to the whole backup.`, {
      cause,
    });
  }
};

const isTaken = (lock: SqliteDatabase.Database, as: 'writer' | 'reader'): boolean => {
  try {
    // A journal on disk would outlast a killed process.
    if (as === 'writer') lock.pragma('journal_mode = memory');
    lock.exec(as === 'writer' ? 'begin exclusive' : 'begin; select * from sqlite_master');
    return true;
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
};

const contentOf = async (path: string): Promise<{ sha256: string; bytes: number }> => {
  const sum = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    sum.update(piece);
    bytes += piece.length;
  }
  return { sha256: sum.digest('hex'), bytes };
};

const unlessMissing = (error: unknown): undefined => {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (!/^(ENOENT|ENOTDIR)$/.test(code)) throw error;
};

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { FileSystemSiteFiles } from '../../adapters/storage/file-system-site-files.ts';
import { ContentCache } from '../../adapters/storage/s3/content-cache.ts';
import { S3SiteFiles } from '../../adapters/storage/s3/s3-site-files.ts';
import { oneForEach, storedForms } from '../../adapters/storage/manifest.ts';
import { Unavailable } from '../../kernel/ports.ts';
import type { SiteFiles, StoredFile } from '../../sites/ports.ts';
import { onDemand } from '../on-demand.ts';
import type { Config } from '../settings/settings.ts';
import { deploysFolder, objectStoreIn } from '../settings/addresses.ts';
import type { Manifest } from './manifest.ts';

export type OnProgress = (step: string, done: number, total: number | undefined) => void;

const filesAtOnce = 8;

/** Says what is wrong with a deploy's files. */
export class Damage extends Error {}

/** Reads every file, because a correct list proves nothing. @returns a hash of all files @throws Damage */
const hashOf = async (files: SiteFiles, deployId: string): Promise<string> => {
  const queue = new PQueue({ concurrency: filesAtOnce });
  try {
    const list = await files.list(deployId).catch(damaged('the list of its files'));
    if (!list) throw new Damage('its files are missing');
    const sums = await queue.addAll(
      oneForEach(list).map((file) => () => sumsOf(files, deployId, file).catch(damaged(file.path))),
    );
    return createHash('sha256').update(JSON.stringify({ list, sums })).digest('hex');
  } finally {
    queue.clear();
    await queue.onIdle();
  }
};

const damaged =
  (what: string) =>
  (error: unknown): never => {
    if (error instanceof Damage) throw error;
    const { cause = error } = error as { readonly cause?: unknown };
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Damage(`${what} cannot be read (${reason})`);
  };

const sumsOf = async (
  files: SiteFiles,
  deployId: string,
  file: StoredFile,
): Promise<readonly string[]> => {
  const sums: string[] = [];
  for (const { encoding } of storedForms(file)) {
    const sum = createHash('sha256');
    for await (const piece of files.read(deployId, file, encoding)) sum.update(piece);
    const found = sum.digest('base64url');
    if (encoding === 'identity' && found !== file.hash) {
      throw new Damage(`${file.path} was changed`);
    }
    sums.push(found);
  }
  return sums;
};

/** @returns what is wrong with the deploy; undefined if nothing is */
export const damageOf = async (
  files: SiteFiles,
  deployId: string,
  sha256: string | undefined,
): Promise<string | undefined> => {
  try {
    const found = await hashOf(files, deployId);
    return found === sha256 ? undefined : 'it is not what was backed up';
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    return error.message;
  }
};

export class DeployCopies {
  readonly #from: SiteFiles;
  readonly #to: SiteFiles;
  readonly #known: Manifest['deploys'];
  readonly #copied = new Map<string, string>();
  newDeploys = 0;
  newBytes = 0;

  constructor(from: SiteFiles, to: SiteFiles, known: Manifest['deploys']) {
    this.#from = from;
    this.#to = to;
    this.#known = known;
  }

  named(ids: readonly string[]): Manifest['deploys'] {
    const copied = ids.filter((id) => this.#copied.has(id));
    return Object.fromEntries(copied.map((id) => [id, this.#copied.get(id) ?? '']));
  }

  /** @throws Damage if the deploy lacks files; Unavailable */
  async copy(deployId: string): Promise<void> {
    if (this.#copied.has(deployId)) return;
    const present = await this.#present(deployId);
    this.#copied.set(deployId, present ?? (await this.#copyAnew(deployId)));
  }

  /** Deploys never change and are either complete or missing. @returns the deploy's hash if the backup has it */
  async #present(deployId: string): Promise<string | undefined> {
    // An unreadable deploy is written again; if that fails too, the error explains why.
    const list = await this.#to.list(deployId).catch(unless(Unavailable));
    if (!list) return undefined;
    return this.#known[deployId] ?? hashOf(this.#to, deployId).catch(unless(Damage));
  }

  async #copyAnew(deployId: string): Promise<string> {
    const list = await this.#from.list(deployId);
    if (!list) throw new Damage('its files are missing');
    await this.#to.putBack(deployId, list, (file, encoding) =>
      this.#from.read(deployId, file, encoding),
    );
    const sha256 = await hashOf(this.#to, deployId).catch(async (error: unknown) => {
      await this.#to.remove(deployId);
      throw error;
    });
    this.newDeploys += 1;
    const forms = oneForEach(list).flatMap(storedForms);
    this.newBytes += forms.reduce((sum, { bytes }) => sum + bytes, 0);
    return sha256;
  }
}

const unless =
  (kind: typeof Damage | typeof Unavailable) =>
  (error: unknown): undefined => {
    if (!(error instanceof kind)) throw error;
  };

export interface PutBack {
  readonly lost: Readonly<Record<string, string>>;
  readonly replaced: readonly string[];
}

export const putBackAll = async (
  backup: SiteFiles,
  storage: SiteFiles,
  deploys: Manifest['deploys'],
  onProgress: OnProgress,
): Promise<PutBack> => {
  const lost: Record<string, string> = {};
  const replaced: string[] = [];
  const all = Object.entries(deploys);
  for (const [at, [id, sha256]] of all.entries()) {
    onProgress('restoring deploys', at, all.length);
    // A damaged backup must not replace anything in the storage.
    const damage = await damageOf(backup, id, sha256);
    if (damage !== undefined) {
      lost[id] = damage;
      continue;
    }
    if ((await damageOf(storage, id, sha256)) === undefined) continue;
    const found = await storage.list(id).catch(() => 'unreadable');
    const list = (await backup.list(id)) ?? [];
    await storage.putBack(id, list, (file, encoding) => backup.read(id, file, encoding));
    if (found !== undefined) replaced.push(id);
  }
  return { lost, replaced };
};

export const withSiteFiles = async <T>(
  config: Config,
  work: (files: SiteFiles) => Promise<T>,
): Promise<T> => {
  const place = objectStoreIn(config);
  const staging = deploysFolder(config);
  if (!place) return work(new FileSystemSiteFiles(staging));
  // With the edges' cache, this would replace what visitors need.
  const cache = new ContentCache({
    folder: join(config.dataDir, 'backup-cache'),
    mostBytes: 0,
    onProblem: () => undefined,
  });
  const { S3Store } = await onDemand.objectStore();
  const files = new S3SiteFiles({ store: new S3Store(place), cache, staging });
  try {
    return await work(files);
  } finally {
    files.close();
  }
};

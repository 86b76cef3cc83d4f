import { rm } from 'node:fs/promises';
import type { CopyFacts } from '../../adapters/kysely/copies/copy-facts.ts';
import { copyDatabase, succeededDeploys } from '../../adapters/kysely/copies/database-copies.ts';
import type { Database } from '../../adapters/kysely/database.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { Config } from '../settings/config.ts';
import type { DeployCopies } from './copy-deploys.ts';
import type { BackupFolder } from './folder.ts';
import type { Content } from './manifest.ts';
import { placeOf } from './places.ts';

/** Told of parts done, out of so many where that is known. */
export type OnProgress = (step: string, done: number, total: number | undefined) => void;

export interface BackupWork {
  readonly config: Config;
  readonly database: Database;
  readonly folder: BackupFolder;
  readonly deploys: DeployCopies;
  readonly onProgress: OnProgress;
}

/** How often deploys may be deleted between the copy of the database and that of their files. */
const mostRounds = 10;

export interface CopiedTogether {
  readonly facts: CopyFacts;
  readonly copy: Content;
  /** Deploys that the copy names, and that cannot be copied. */
  readonly lost: Readonly<Record<string, string>>;
}

/** The database, and the files of every deploy that the copy of it names. */
export const copyTogether = async ({
  config,
  database,
  folder,
  deploys,
  onProgress,
}: BackupWork): Promise<CopiedTogether> => {
  const place = placeOf(config);
  // Most of the work, so that little can be deleted between the copy of the database and that of the rest.
  await copyAll(await succeededDeploys(database), deploys, onProgress);
  for (let round = 1; round <= mostRounds; round++) {
    const path = folder.newPath();
    // Files are there before the database names them. They go after that, which this finds out.
    const facts = await copyDatabase(place, path, (bytes, total) => {
      onProgress('copying MiB of the database', mib(bytes), total && mib(total));
    });
    const failed = await copyAll(facts.deploys, deploys, onProgress);
    const named = new Set(await succeededDeploys(database));
    if ([...failed.keys()].every((id) => named.has(id))) {
      return { facts, copy: await folder.adopt(path), lost: lostFrom(failed) };
    }
    // A deploy was deleted meanwhile: a new copy no longer names it.
    await rm(path);
  }
  throw new Error('Deploys were deleted again and again while they were copied. Try again later.');
};

const mib = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);

type Failed = ReadonlyMap<string, string | Unavailable>;

const copyAll = async (
  ids: readonly string[],
  deploys: DeployCopies,
  onProgress: OnProgress,
): Promise<Failed> => {
  const failed = new Map<string, string | Unavailable>();
  for (const [at, id] of ids.entries()) {
    onProgress('copying deploys', at, ids.length);
    const problem = await deploys.copy(id).catch((error: unknown) => {
      // Perhaps it was deleted while it was read.
      if (error instanceof Unavailable) return error;
      throw error;
    });
    if (problem !== undefined) failed.set(id, problem);
  }
  onProgress('copying deploys', ids.length, ids.length);
  return failed;
};

/** @throws Unavailable when the storage is away */
const lostFrom = (failed: Failed): Readonly<Record<string, string>> => {
  const lost: Record<string, string> = {};
  for (const [id, problem] of failed) {
    if (problem instanceof Unavailable) throw problem;
    lost[id] = problem;
  }
  return lost;
};

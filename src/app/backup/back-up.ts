import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CopyFacts } from '../../adapters/kysely/copies/copy-facts.ts';
import { rememberBackup } from '../../adapters/kysely/copies/backup-times.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { migrationStates } from '../../adapters/kysely/migrations.ts';
import { kindOfUrl } from '../../adapters/kysely/engine/database-kind.ts';
import { keyUses } from '../../adapters/kysely/sealed-values.ts';
import { isMissing } from '../doctor/check-database.ts';
import { databasePlace, databaseProblem } from '../failure-words.ts';
import type { Config } from '../settings/config.ts';
import { version } from '../version.ts';
import { DeployCopies } from './copy-deploys.ts';
import { copyTogether, type BackupWork, type OnProgress } from './copy-together.ts';
import { BackupFolder } from './folder.ts';
import { holding } from './lock.ts';
import { DamagedManifest, localFiles, type Content, type Manifest } from './manifest.ts';
import { namedContents } from './named-contents.ts';
import { schemaGap, type SchemaGap } from './schema.ts';
import { withSiteFiles } from './site-files.ts';

interface Into {
  readonly path: string;
  /** Also where the database has no account any more. */
  readonly allowEmpty?: boolean | undefined;
}

export interface BackupMade {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Deploys that were not in the folder before. */
  readonly newDeploys: number;
  readonly newBytes: number;
  readonly schema: SchemaGap;
}

/**
 * Backs up the database, the deploys and the local authority, while the service runs. The folder has its last backup
 * until this one is whole, and keeps it as the previous one.
 */
export const backUp = async (
  config: Config,
  { path, allowEmpty = false }: Into,
  onProgress: OnProgress,
): Promise<BackupMade> => {
  if (isMissing(config.databaseUrl)) {
    throw new Error(`There is no database at ${databasePlace(config.databaseUrl)}.`);
  }
  // It would be a folder with that name, where nobody looks for it.
  if (/^\w+:\/\//.test(path)) throw new Error(`${path} is not a folder. Name one on a disk.`);
  const folder = new BackupFolder(resolve(path));
  await folder.make();
  const database = new Database(config.databaseUrl, { patient: true });
  try {
    return await holding(folder.path, 'writer', () =>
      withSiteFiles(config, async (files) => {
        const earlier = await lastReadable(folder);
        // Refuses a database that a restore or a move has not finished.
        await migrationStates(database);
        await folder.begin();
        const deploys = new DeployCopies(files, folder, earlier?.deploys ?? {});
        const work = { config, database, folder, deploys, onProgress };
        const { named, ...made } = await write(work, earlier, allowEmpty).catch((error: unknown) =>
          refuseFull(folder, error),
        );
        await folder.removeUnused(named).catch(unremoved);
        const schema = await schemaGap(made.manifest.database);
        await remember(config, database, made.manifest);
        return { ...made, schema };
      }),
    );
  } finally {
    await database.close();
  }
};

/** Nothing of the database is written meanwhile, so that no other disk can be the full one. */
const refuseFull = ({ path }: BackupFolder, error: unknown): never => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const isFull = /^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(String(code));
  if (!isFull) throw error;
  throw new Error(
    `There is no new backup, because the disk of ${path} is full (${String(message)}). Free some space; the last backup is as it was.`,
    { cause: error },
  );
};

/** What fails once the new backup is whole says that it is. */
const unremoved = (cause: unknown): never => {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const problem = 'The new backup is whole, but what no backup names any more could not be removed';
  throw new Error(`${problem} (${reason}). The next backup tries it again.`, { cause });
};

/** Tells the service, which alerts when backups stop. One that lacks deploys does not count. */
const remember = async (
  { databaseUrl }: Config,
  database: Database,
  { madeAt, lost }: Manifest,
): Promise<void> => {
  if (Object.keys(lost).length > 0) return;
  try {
    await rememberBackup(database, 'made', new Date(madeAt));
  } catch (cause) {
    const problem = 'The new backup is whole, but the database could not remember it for the alert';
    const { seen, advice } = databaseProblem(databaseUrl, cause);
    throw new Error(`${problem}: ${seen} ${advice}`.trim(), { cause });
  }
};

/** Both are looked at: one that this version does not understand would lose what it names. @throws StrangeManifest */
const lastReadable = async (folder: BackupFolder): Promise<Manifest | undefined> => {
  const last = await folder.manifest().catch(ignoreDamaged);
  const previous = await folder.manifest('previous').catch(ignoreDamaged);
  return last ?? previous;
};

/** What cannot be read is replaced. */
const ignoreDamaged = (error: unknown): undefined => {
  if (!(error instanceof DamagedManifest)) throw error;
};

interface Written extends Omit<BackupMade, 'isRemembered' | 'schema'> {
  /** SHA-256 of all that the backups in the folder name. */
  readonly named: ReadonlySet<string>;
}

const write = async (
  work: BackupWork,
  earlier: Manifest | undefined,
  allowEmpty: boolean,
): Promise<Written> => {
  const { config, database, folder, deploys } = work;
  const { facts, copy, lost } = await copyTogether(work);
  if (earlier && !allowEmpty) refuseEmptied(facts, earlier);
  const copied = deploys.named(facts.deploys);
  const sealed = (await keyUses(database)).map(({ keyId, values }) => [keyId, values] as const);
  const manifest: Manifest = {
    format: 1,
    madeAt: new Date().toISOString(),
    madeBy: version(),
    database: {
      kind: kindOfUrl(config.databaseUrl),
      copy,
      migrations: [...facts.migrations],
      rows: { ...facts.rows },
    },
    deploys: Object.fromEntries(copied.map(({ id, list }) => [id, list])),
    lost,
    files: await copyFiles(config, folder),
    sealedBy: Object.fromEntries(sealed),
  };
  const ofDeploys = new Set(copied.flatMap(({ list, hashes }) => [list.sha256, ...hashes]));
  const both = earlier ? [manifest, earlier] : [manifest];
  const named = await Promise.all(both.map((one) => namedContents(folder, one, ofDeploys)));
  await folder.publish(manifest, earlier);
  const { newDeploys, newBytes } = deploys;
  const all = new Set([...ofDeploys, ...named.flat()]);
  return { folder: folder.path, manifest, newDeploys, newBytes, named: all };
};

/** A service that was started without its disk makes a database of its own. @throws Error */
const refuseEmptied = ({ rows }: CopyFacts, { madeAt, database }: Manifest): void => {
  const before = database.rows['accounts'] ?? 0;
  if (before === 0 || rows['accounts'] !== 0) return;
  throw new Error(
    `The database has no account, and the last backup, of ${madeAt}, has ${String(before)}: it stays as it is. ` +
      'Check DATABASE_URL and whether its disk is mounted. If it should be empty, add --allow-empty.',
  );
};

const copyFiles = async ({ dataDir }: Config, folder: BackupFolder): Promise<Manifest['files']> => {
  const files: Record<string, Content> = {};
  for (const name of localFiles) {
    const path = join(dataDir, name);
    if (existsSync(path)) files[name] = await folder.put([await readFile(path)]);
  }
  return files;
};

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  rememberBackup,
  copiesIn,
  succeededDeploys,
} from '../../adapters/kysely/copies/database-copies.ts';
import type { CopyFacts } from '../../adapters/kysely/copies/copy-facts.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { kindOfUrl } from '../../adapters/kysely/engine/database-kind.ts';
import { migrationStates } from '../../adapters/kysely/migrations.ts';
import { keyUses } from '../../adapters/kysely/sealed-values.ts';
import { Unavailable } from '../../kernel/ports.ts';
import type { SiteFiles } from '../../sites/ports.ts';
import { isMissing } from '../doctor/check-database.ts';
import { databasePlace, databaseProblem } from '../failure-words.ts';
import type { Config } from '../settings/settings.ts';
import { version } from '../version.ts';
import { Damage, DeployCopies, withSiteFiles, type OnProgress } from './deploys.ts';
import { BackupFolder } from './folder.ts';
import { localFiles, type Manifest, schemaGap, type SchemaGap } from './manifest.ts';

export interface BackupMade {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly newDeploys: number;
  readonly newBytes: number;
  readonly schema: SchemaGap;
}

/** Backs up while the service runs. The previous backup stays until this one is complete. */
export const backUp = async (
  config: Config,
  path: string,
  onProgress: OnProgress,
): Promise<BackupMade> => {
  if (isMissing(config.databaseUrl)) {
    throw new Error(`There is no database at ${databasePlace(config.databaseUrl)}.`);
  }
  // Without this check, a folder named `s3:` would be created.
  if (/^\w+:\/\//.test(path)) throw new Error(`${path} is not a folder. Name one on a disk.`);
  const folder = new BackupFolder(resolve(path));
  await folder.make();
  const database = new Database(config.databaseUrl, { patient: true });
  try {
    return await folder.holding('writer', async () => {
      const earlier = await folder.readableManifest();
      // This refuses a database that a restore or move has not finished.
      await migrationStates(database);
      const work = { config, database, folder, earlier, onProgress };
      const made = await withSiteFiles(config, (files) => write(work, files)).catch(
        (error: unknown) => refuseFull(folder, error),
      );
      await folder.removeUnnamed(made.manifest).catch(unremoved);
      await remember(config, database, made.manifest);
      const schema = schemaGap(made.manifest.database);
      return { ...made, folder: folder.path, schema };
    });
  } finally {
    await database.close();
  }
};

/** Reports a full disk. Only the backup writes meanwhile, so the full disk must be the backup's. */
const refuseFull = ({ path }: BackupFolder, error: unknown): never => {
  const { code } = error as { readonly code?: unknown };
  if (!/^(ENOSPC|EDQUOT|SQLITE_FULL|storage_full)$/.test(String(code))) throw error;
  throw new Error(
    `The disk of ${path} is full, so there is no new backup. Free some space; the last backup is unchanged.`,
    { cause: error },
  );
};

const unremoved = (cause: unknown): never => {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const problem = 'The new backup is complete, but old files could not be deleted';
  throw new Error(`${problem} (${reason}). The next backup tries again.`, { cause });
};

/** Records the backup for the alert. A backup without all deploys does not count. */
const remember = async (
  { databaseUrl }: Config,
  database: Database,
  { madeAt, lost }: Manifest,
): Promise<void> => {
  if (Object.keys(lost).length > 0) return;
  try {
    await rememberBackup(database, 'made', new Date(madeAt));
  } catch (cause) {
    const problem =
      'The new backup is complete, but the database could not record it, so an alert may follow';
    const { seen, advice } = databaseProblem(databaseUrl, cause);
    throw new Error(`${problem}: ${seen} ${advice}`.trim(), { cause });
  }
};

interface Work {
  readonly config: Config;
  readonly database: Database;
  readonly folder: BackupFolder;
  readonly earlier: Manifest | undefined;
  readonly onProgress: OnProgress;
}

const write = async (
  work: Work,
  files: SiteFiles,
): Promise<Pick<BackupMade, 'manifest' | 'newDeploys' | 'newBytes'>> => {
  const { config, database, folder, earlier } = work;
  const copies = new DeployCopies(files, folder.deploys, earlier?.deploys ?? {});
  const { facts, lost } = await copyTogether(work, copies);
  if (earlier) refuseEmptied(facts, earlier);
  const madeAt = new Date().toISOString();
  const sealed = (await keyUses(database)).map(({ keyId, values }) => [keyId, values] as const);
  const manifest: Manifest = {
    madeAt,
    madeBy: version(),
    database: {
      ...(await folder.adopt(kindOfUrl(config.databaseUrl), madeAt)),
      migrations: [...facts.migrations],
      rows: { ...facts.rows },
    },
    deploys: copies.named(facts.deploys),
    lost,
    files: await readFiles(config),
    sealedBy: Object.fromEntries(sealed),
  };
  await folder.publish(manifest);
  const { newDeploys, newBytes } = copies;
  return { manifest, newDeploys, newBytes };
};

/**
 * Refuses a database without accounts if the last backup has some, because a service that starts without its disk
 * creates an empty database.
 * @throws Error
 */
const refuseEmptied = ({ rows }: CopyFacts, { madeAt, database }: Manifest): void => {
  const before = database.rows['accounts'] ?? 0;
  if (before === 0 || rows['accounts'] !== 0) return;
  throw new Error(
    `The database has no account, but the last backup, of ${madeAt}, has ${String(before)}: it is kept. ` +
      'Check DATABASE_URL and whether its disk is mounted. If it should be empty, back up into another folder.',
  );
};

const readFiles = async ({ dataDir }: Config): Promise<Manifest['files']> => {
  const files: Manifest['files'] = {};
  for (const name of localFiles) {
    const path = join(dataDir, name);
    if (existsSync(path)) files[name] = await readFile(path, 'utf8');
  }
  return files;
};

/** The backup starts over if deploys are deleted or migrations run between the two copies. */
const mostRounds = 10;

const copyTogether = async (
  work: Work,
  copies: DeployCopies,
): Promise<Pick<Manifest, 'lost'> & { readonly facts: CopyFacts }> => {
  const { config, database, folder, onProgress } = work;
  // Most deploys are copied first, so that little can be deleted between the two copies.
  await copyAll(work, copies, await succeededDeploys(database));
  for (let round = 1; round <= mostRounds; round++) {
    await folder.begin();
    // Files exist before the database names them and are deleted after it forgets them, so the check below finds
    // deletions.
    const { databaseUrl: url } = config;
    const facts = await copiesIn(url).copy(url, folder.incoming, (bytes, total) => {
      onProgress('copying MiB of the database', mib(bytes), total && mib(total));
    });
    if (!facts) continue;
    const lost = await copyAll(work, copies, facts.deploys);
    const still = new Set(await succeededDeploys(database));
    if (!Object.keys(lost).every((id) => still.has(id))) continue;
    return { facts, lost };
  }
  throw new Error(
    'Deploys were deleted or migrations ran during every attempt to copy them. Try again later.',
  );
};

const mib = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);

/** @returns the reason for each deploy that the storage lacks @throws Unavailable */
const copyAll = async (
  { database, onProgress }: Work,
  copies: DeployCopies,
  ids: readonly string[],
): Promise<Manifest['lost']> => {
  const lost: Manifest['lost'] = {};
  for (const [at, id] of ids.entries()) {
    onProgress('copying deploys', at, ids.length);
    try {
      await copies.copy(id);
    } catch (error) {
      lost[id] = error instanceof Damage ? error.message : 'it was deleted while it was read';
      if (error instanceof Damage) continue;
      const isDeleted = !(await succeededDeploys(database)).includes(id);
      if (!(error instanceof Unavailable && isDeleted)) throw error;
    }
  }
  onProgress('copying deploys', ids.length, ids.length);
  return lost;
};

import { existsSync } from 'node:fs';
import { holdsCopy, restoreObstacle } from '../../adapters/kysely/copies/database-copies.ts';
import { kindOfUrl } from '../../adapters/kysely/engine/database-kind.ts';
import { databasePlace } from '../failure-words.ts';
import type { Config } from '../settings/config.ts';
import { restoreMark } from '../restore-mark.ts';
import type { Manifest } from './manifest.ts';
import { placeOf, strangersIn } from './places.ts';
import { schemaGap, strangeIn } from './schema.ts';

export interface Admitted {
  /** Migrations that the next start applies. */
  readonly pending: readonly string[];
  /** An interrupted restore has put the database in place already. */
  readonly hasDatabase: boolean;
}

/** @throws Error that says why it is refused */
export const admitRestore = async (config: Config, manifest: Manifest): Promise<Admitted> => {
  const { kind } = manifest.database;
  if (kind !== kindOfUrl(config.databaseUrl)) {
    throw new Error(`The backup is of a database for ${kind}: URLs. Set DATABASE_URL to one.`);
  }
  const gap = await schemaGap(manifest.database);
  if (gap.unknown.length > 0) {
    throw new Error(
      `${strangeIn(gap, manifest)} Install that version or a newer one to restore it.`,
    );
  }
  const obstacle = await restoreObstacle(placeOf(config));
  const hasDatabase = obstacle !== undefined && (await isRestored(config, manifest));
  if (obstacle !== undefined && !hasDatabase) {
    throw new Error(
      `The database ${databasePlace(config.databaseUrl)} is in use or not empty: ${obstacle}. ` +
        'Stop the service and move the database away, or set DATABASE_URL to an empty one.',
    );
  }
  const strangers = await strangersIn(config, manifest);
  if (strangers.length > 0) {
    throw new Error(
      `The data folder ${config.dataDir} is in use or not empty: it has ${strangers.slice(0, 5).join(', ')}. ` +
        'Stop the service and move it away, or set DATA_DIR to an empty folder. Only secret.key may be there.',
    );
  }
  return { pending: gap.pending, hasDatabase };
};

/** By a restore that was interrupted at its last step. */
const isRestored = async (config: Config, { database }: Manifest): Promise<boolean> =>
  existsSync(restoreMark(config)) && (await holdsCopy(placeOf(config), database));

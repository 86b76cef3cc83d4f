import type { CopyFacts } from '../../adapters/kysely/copies/copy-facts.ts';
import { knownMigrations } from '../../adapters/kysely/migrations.ts';
import type { Manifest } from './manifest.ts';

/** How the schema of a backup stands to this version of the service. */
export interface SchemaGap {
  /** Migrations that the next start applies. */
  readonly pending: readonly string[];
  /** Migrations of a newer version. */
  readonly unknown: readonly string[];
}

export const schemaGap = async ({
  migrations,
}: Pick<CopyFacts, 'migrations'>): Promise<SchemaGap> => {
  const known = await knownMigrations();
  return {
    pending: known.filter((name) => !migrations.includes(name)),
    unknown: migrations.filter((name) => !known.includes(name)),
  };
};

export const tooNew = (unknown: readonly string[], { madeBy }: Manifest): string =>
  `Its schema is newer than this version: ${unknown.join(', ')} is not known here. It was made by version ${madeBy}.`;

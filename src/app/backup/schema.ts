import type { CopyFacts } from '../../adapters/kysely/copies/copy-facts.ts';
import { knownMigrations } from '../../adapters/kysely/migrations.ts';
import type { Manifest } from './manifest.ts';

/** How the schema of a backup stands to this version of the service. */
export interface SchemaGap {
  /** Migrations that the next start applies. */
  readonly pending: readonly string[];
  /** Migrations of a newer version, or of an unreleased build. */
  readonly unknown: readonly string[];
}

export const schemaGap = ({ migrations }: Pick<CopyFacts, 'migrations'>): SchemaGap => {
  const known = Object.keys(knownMigrations);
  return {
    pending: known.filter((name) => !migrations.includes(name)),
    unknown: migrations.filter((name) => !known.includes(name)),
  };
};

export const strangeIn = ({ pending, unknown }: SchemaGap, { madeBy }: Manifest): string => {
  // A newer release has all of ours, and more.
  const kind = pending.length === 0 ? 'newer than this version' : 'that of an unreleased build';
  return `Its schema is ${kind}: ${unknown.join(', ')} is not known here. It was made by version ${madeBy}.`;
};

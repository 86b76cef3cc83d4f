import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { CopyFacts } from '../../adapters/kysely/copies/copy-facts.ts';
import { knownMigrations } from '../../adapters/kysely/migrations.ts';
import { localRootPurpose } from '../../adapters/acme/local-certificate-authority.ts';
import type { Sealer } from '../../kernel/ports.ts';
import type { Config } from '../settings/settings.ts';
import { sealerIn } from '../settings/secret-key.ts';

/** The folder's format. Newer formats are refused and left unchanged. */
const format = 1;

const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const counts = v.record(v.string(), v.number());

export const localFiles = ['local-ca.key', 'local-ca.pem'] as const;

const Manifest = v.strictObject({
  madeAt: v.pipe(v.string(), v.isoTimestamp()),
  madeBy: v.string(),
  database: v.strictObject({
    kind: v.picklist(['sqlite', 'mysql']),
    /** The name becomes a path, so only this form is allowed. */
    file: v.pipe(v.string(), v.regex(/^database-[\w.-]+$/)),
    sha256: Sha256,
    bytes: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    migrations: v.array(v.string()),
    rows: counts,
  }),
  deploys: v.record(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/)), Sha256),
  lost: v.record(v.string(), v.string()),
  /** Contents by file name. Names become paths, so only these are allowed. */
  files: v.record(v.picklist(localFiles), v.string()),
  /** Number of encrypted values by key id. Ids reveal nothing about the keys. */
  sealedBy: counts,
});
export type Manifest = Readonly<v.InferOutput<typeof Manifest>>;

export class DamagedManifest extends Error {
  override readonly name = 'DamagedManifest';
}

/** The manifest is intact, but this version cannot read it. A newer version probably can. */
export class UnsupportedManifest extends Error {
  override readonly name = 'UnsupportedManifest';
}

export const manifestText = (manifest: Manifest): string =>
  `${JSON.stringify({ format, sha256: sumOf(manifest), manifest }, null, 1)}\n`;

export const parseManifest = (text: string, name: string): Manifest => {
  const outer = outerOf(text, name);
  // Every release must keep this field in this place.
  if (outer.format !== format) {
    const problem = `${name} has a format that this version does not know. Use a newer version, or another folder.`;
    throw new UnsupportedManifest(problem);
  }
  if (outer.sha256 !== sumOf(outer.manifest)) throw new DamagedManifest(`${name} is damaged.`);
  const result = v.safeParse(Manifest, outer.manifest);
  if (result.success) return result.output;
  const [{ message }] = result.issues;
  throw new UnsupportedManifest(
    `${name} has content that this version never writes: ${message}. Use the version that made it, or another folder.`,
  );
};

const Outer = v.object({
  format: v.number(),
  sha256: v.optional(v.unknown()),
  manifest: v.optional(v.unknown()),
});

const outerOf = (text: string, name: string): v.InferOutput<typeof Outer> => {
  try {
    return v.parse(Outer, JSON.parse(text));
  } catch (cause) {
    throw new DamagedManifest(`${name} is damaged.`, { cause });
  }
};

/** JSON keeps the order of keys, so the hash can be computed again. */
const sumOf = (manifest: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([manifest]))
    .digest('hex');

export interface SchemaGap {
  readonly pending: readonly string[];
  readonly unknown: readonly string[];
}

export const schemaGap = ({ migrations }: Pick<CopyFacts, 'migrations'>): SchemaGap => {
  const known = Object.keys(knownMigrations);
  return {
    pending: known.filter((name) => !migrations.includes(name)),
    unknown: migrations.filter((name) => !known.includes(name)),
  };
};

export const unknownSchemaIn = ({ pending, unknown }: SchemaGap, { madeBy }: Manifest): string => {
  // A newer release includes all of our migrations.
  const kind = pending.length === 0 ? 'newer than this version' : 'that of an unreleased build';
  return `Its schema is ${kind}: ${unknown.join(', ')} is not known here. It was made by version ${madeBy}.`;
};

/** Finds values that these settings' secret keys cannot decrypt. @returns undefined if there are none */
export const missingKeys = (
  config: Config,
  { files, sealedBy }: Pick<Manifest, 'files' | 'sealedBy'>,
): string | undefined => {
  const sealer = sealerIn(config);
  const problems = [
    missingFor(sealedBy, sealer?.keyIds ?? []),
    closedLocalKey(sealer, files['local-ca.key']),
  ].filter((problem) => problem !== undefined);
  return problems.length === 0 ? undefined : problems.join(' ');
};

/** Tries to decrypt the file, because it has no key id. */
const closedLocalKey = (
  sealer: Sealer | undefined,
  sealed: string | undefined,
): string | undefined => {
  if (sealed === undefined) return undefined;
  try {
    sealer?.open(sealed, localRootPurpose);
    if (sealer) return undefined;
  } catch {
    // This key cannot decrypt it.
  }
  return 'local-ca.key, the key of the local certificate authority, needs another secret key than this machine has.';
};

const missingFor = (
  sealedBy: Manifest['sealedBy'],
  here: readonly string[],
): string | undefined => {
  const missing = Object.entries(sealedBy).filter(([keyId]) => !here.includes(keyId));
  if (missing.length === 0) return undefined;
  const values = missing.reduce((sum, [, count]) => sum + count, 0);
  const ids = missing.map(([keyId]) => keyId).join(', ');
  const own =
    here.length === 0 ? 'there is no secret key here' : `the key here is ${here.join(', ')}`;
  return `${String(values)} encrypted values, certificates among them, need the secret key with the id ${ids}; ${own}.`;
};

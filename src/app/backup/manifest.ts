import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { StoredFiles } from '../../adapters/storage/manifest.ts';

/** Bytes that are stored under the SHA-256 of all of them, in hex. */
const Content = v.object({
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  bytes: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});
export type Content = Readonly<v.InferOutput<typeof Content>>;

const names = v.array(v.string());
/** Files of the data folder that are backed up: the local authority, whose key is encrypted. */
export const localFiles = ['local-ca.key', 'local-ca.pem'] as const;

const counts = v.record(v.string(), v.number());

const Manifest = v.object({
  /** Of the backup, not of the database. */
  format: v.literal(1),
  madeAt: v.pipe(v.string(), v.isoTimestamp()),
  /** The version of the service that made it. */
  madeBy: v.string(),
  database: v.object({
    kind: v.picklist(['sqlite', 'mysql']),
    copy: Content,
    migrations: names,
    rows: counts,
  }),
  /** By id: the list of its files. */
  deploys: v.record(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/)), Content),
  /** Deploys of the database whose files were missing or damaged already, and why. */
  lost: v.record(v.string(), v.string()),
  /** Other files of the data folder. They become paths, so no other name may come from a manifest. */
  files: v.record(v.picklist(localFiles), Content),
  /** How many values are encrypted under which secret key. Ids reveal nothing about the keys, which are not here. */
  sealedBy: counts,
});
export type Manifest = Readonly<v.InferOutput<typeof Manifest>>;

const Checked = v.object({ sha256: v.string(), manifest: v.unknown() });

/** The manifest is not what was written. */
export class DamagedManifest extends Error {
  override readonly name = 'DamagedManifest';
}

/** The manifest is what was written, and this version does not understand it: a newer one probably does. */
export class StrangeManifest extends Error {
  override readonly name = 'StrangeManifest';
}

export const manifestText = (manifest: Manifest): string =>
  `${JSON.stringify({ sha256: sumOf(manifest), manifest }, null, 1)}\n`;

/** @param name of its file @throws DamagedManifest, StrangeManifest */
export const parseManifest = (text: string, name: string): Manifest => {
  const { sha256, manifest } = checkedJson(text, name);
  if (sha256 !== sumOf(manifest)) throw new DamagedManifest(`${name} is damaged.`);
  const result = v.safeParse(Manifest, manifest);
  if (result.success) return result.output;
  if (!v.is(OwnFormat, manifest)) {
    const problem = `${name} has a format that this version does not know. Use a newer version, or another folder.`;
    throw new StrangeManifest(problem);
  }
  const [{ message }] = result.issues;
  throw new StrangeManifest(
    `${name} has what no backup of this version writes: ${message}. Use the version that made it, or another folder.`,
  );
};

const OwnFormat = v.object({ format: v.literal(1) });

const checkedJson = (text: string, name: string): v.InferOutput<typeof Checked> => {
  try {
    return v.parse(Checked, JSON.parse(text));
  } catch (cause) {
    throw new DamagedManifest(`${name} is damaged.`, { cause });
  }
};

/** JSON keeps the order of keys, so what was read has the sum of what was written. */
const sumOf = (manifest: unknown): string =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

const DeployList = v.object({
  files: v.pipe(
    StoredFiles,
    v.check((files) => files.every(({ hash }) => /^[A-Za-z0-9_-]{43}$/.test(hash))),
  ),
  /** By the names that the storage gives to contents. */
  contents: v.record(v.string(), Content),
});
/** The files of one deploy, as `SiteFiles` lists them, and where their contents are in the backup. */
export type DeployList = Readonly<v.InferOutput<typeof DeployList>>;

/** @throws Error for one that we did not write */
export const parseDeployList = (text: string): DeployList => v.parse(DeployList, JSON.parse(text));

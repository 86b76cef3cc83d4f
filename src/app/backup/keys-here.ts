import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AesGcmSealer } from '../../adapters/system/aes-gcm-sealer.ts';
import { localRootPurpose } from '../../adapters/acme/local-root-file.ts';
import type { Config } from '../settings/config.ts';
import { previousSecretKeysFor, secretKeyFor } from '../settings/secret-key.ts';
import { DamagedContent } from './content-of.ts';
import type { BackupFolder } from './folder.ts';
import type { Manifest } from './manifest.ts';

/** By the secret keys that these settings give; none where the first start has not made one yet. */
const sealerHere = (config: Config): AesGcmSealer | undefined => {
  const hasKey = config.secretKey !== undefined || existsSync(join(config.dataDir, 'secret.key'));
  if (!hasKey) return undefined;
  return new AesGcmSealer(secretKeyFor(config), previousSecretKeysFor(config));
};

/**
 * @param sealedBy of the database; undamaged, that of the manifest
 * @returns a sentence about what these keys do not open, if there is any
 */
export const missingKeys = async (
  config: Config,
  folder: BackupFolder,
  { files, sealedBy }: Pick<Manifest, 'files' | 'sealedBy'>,
): Promise<string | undefined> => {
  const sealer = sealerHere(config);
  const problems = [
    missingFor(sealedBy, sealer?.keyIds ?? []),
    await closedLocalKey(sealer, folder, files),
  ].filter((problem) => problem !== undefined);
  return problems.length === 0 ? undefined : problems.join(' ');
};

/** It has no id of its key beside it, so only trying tells. A damaged one is not told of here. */
const closedLocalKey = async (
  sealer: AesGcmSealer | undefined,
  folder: BackupFolder,
  files: Manifest['files'],
): Promise<string | undefined> => {
  const content = files['local-ca.key'];
  if (!content) return undefined;
  const sealed = await folder.text(content).catch((error: unknown) => {
    if (!(error instanceof DamagedContent)) throw error;
  });
  if (sealed === undefined) return undefined;
  try {
    sealer?.open(sealed, localRootPurpose);
    if (sealer) return undefined;
  } catch {
    // The sentence says it.
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

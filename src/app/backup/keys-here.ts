import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { localRootPurpose } from '../../adapters/acme/local-certificate-authority.ts';
import { AesGcmSealer } from '../../adapters/system/aes-gcm-sealer.ts';
import type { Config } from '../settings/settings.ts';
import { previousSecretKeysFor, secretKeyFor } from '../settings/secret-key.ts';
import type { Manifest } from './manifest.ts';

/** @returns a sentence about what the secret keys of these settings do not open, if there is any */
export const missingKeys = (
  config: Config,
  { files, sealedBy }: Pick<Manifest, 'files' | 'sealedBy'>,
): string | undefined => {
  const sealer = sealerHere(config);
  const problems = [
    missingFor(sealedBy, sealer?.keyIds ?? []),
    closedLocalKey(sealer, files['local-ca.key']),
  ].filter((problem) => problem !== undefined);
  return problems.length === 0 ? undefined : problems.join(' ');
};

/** None where the first start has not made a key yet. */
const sealerHere = (config: Config): AesGcmSealer | undefined => {
  const hasKey = config.secretKey !== undefined || existsSync(join(config.dataDir, 'secret.key'));
  if (!hasKey) return undefined;
  return new AesGcmSealer(secretKeyFor(config), previousSecretKeysFor(config));
};

/** No id of a key is stored beside it, so we try to open it. */
const closedLocalKey = (
  sealer: AesGcmSealer | undefined,
  sealed: string | undefined,
): string | undefined => {
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

import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AesGcmSealer } from '../../adapters/system/secrets.ts';
import type { Config } from './settings.ts';

/** Returns false before the first start, which creates a key outside production. */
export const hasSecretKey = ({ secretKey, dataDir }: Config): boolean =>
  secretKey !== undefined || existsSync(join(dataDir, 'secret.key'));

/** Opens the sealer without creating a key. @returns undefined if there is no key */
export const sealerIn = (config: Config): AesGcmSealer | undefined =>
  hasSecretKey(config)
    ? new AesGcmSealer(secretKeyFor(config), previousSecretKeysFor(config))
    : undefined;

export const previousSecretKeysFor = ({ secretKeyPrevious }: Config): readonly Uint8Array[] =>
  secretKeyPrevious === undefined ? [] : [Buffer.from(secretKeyPrevious)];

/** Returns the configured key, or the one in the data folder, which the first start creates with mode 0600. */
export const secretKeyFor = ({ secretKey, dataDir }: Config): Uint8Array => {
  if (secretKey !== undefined) return Buffer.from(secretKey);
  const path = join(dataDir, 'secret.key');
  if (!existsSync(path)) createOnce(path, dataDir);
  return Buffer.from(readFileSync(path, 'utf8').trim());
};

/** Creates the file completely or not at all. `link` fails if another process was faster. */
const createOnce = (path: string, folder: string): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
};

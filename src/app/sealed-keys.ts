import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { LocalRootFile } from '../adapters/acme/local-certificate-authority.ts';
import { Database } from '../adapters/kysely/database.ts';
import { keyUses, SealedValues } from '../adapters/kysely/sealed-values.ts';
import { Sealer } from '../kernel/ports.ts';
import { ConfigKey } from './keys.ts';

export interface KeyState {
  readonly keyId: string;
  readonly key: 'current' | 'previous' | 'unknown';
  readonly values: number;
}

export const keyStates = async (container: Container): Promise<readonly KeyState[]> => {
  const sealer = container.get(Sealer);
  const uses = await keyUses(container.get(Database));
  return uses.map(({ keyId, values }) => ({ keyId, key: whichOf(sealer, keyId), values }));
};

const whichOf = ({ keyIds }: Sealer, keyId: string): KeyState['key'] => {
  const at = keyIds.indexOf(keyId);
  if (at === -1) return 'unknown';
  return at === 0 ? 'current' : 'previous';
};

/** Warns of a missing key, which would otherwise show only at a host's first visit. */
export const warnOfUnknownKeys = async (container: Container, log: Logger): Promise<void> => {
  for (const { keyId, key, values } of await keyStates(container)) {
    if (key !== 'unknown') continue;
    log.error(
      { keyId, values },
      'private keys are encrypted under a secret key that this process does not have: give it as SECRET_KEY or ' +
        'SECRET_KEY_PREVIOUS',
    );
  }
};

export interface Left {
  readonly what: string;
  readonly id: string;
  readonly reason: string;
}

export const resealAll = async (
  container: Container,
  onProgress: (resealed: number, total: number) => void = () => undefined,
): Promise<{ readonly resealed: number; readonly left: readonly Left[] }> => {
  const { dataDir: folder } = container.get(ConfigKey);
  const sealer = container.get(Sealer);
  const values = new SealedValues(container.get(Database), sealer);
  const waiting = (await keyStates(container)).filter(({ key }) => key !== 'current');
  const total = waiting.reduce((sum, one) => sum + one.values, 0);
  let resealed = 0;
  onProgress(resealed, total);
  const rows = await values.reseal((count) => {
    resealed += count;
    onProgress(resealed, total);
  });
  const left = rows.map(({ table: what, id, reason }): Left => ({ what, id, reason }));
  const root = await new LocalRootFile(folder, sealer).reseal();
  switch (root.kind) {
    case 'nothing to do':
      return { resealed, left };
    case 'resealed':
      return { resealed: resealed + 1, left };
    case 'left':
      return { resealed, left: [...left, { what: 'file', id: root.id, reason: root.reason }] };
  }
};

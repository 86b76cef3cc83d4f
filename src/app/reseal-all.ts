import type { Container } from 'inversify';
import { LocalRootFile } from '../adapters/acme/local-certificate-authority.ts';
import { Database } from '../adapters/kysely/database.ts';
import { SealedValues } from '../adapters/kysely/sealed-values.ts';
import { Sealer } from '../kernel/sealer.ts';
import { ConfigKey } from './keys.ts';
import { keyStates } from './sealed-under.ts';

export interface Left {
  readonly what: string;
  readonly id: string;
  readonly reason: string;
}

/** The values in the database, and the root of the local authority, which is a file. */
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

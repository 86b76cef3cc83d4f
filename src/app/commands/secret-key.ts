import { SingleBar } from 'cli-progress';
import type { Container } from 'inversify';
import { LocalRootFile } from '../../adapters/acme/local-root-file.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { SealedValues } from '../../adapters/kysely/sealed-values.ts';
import { Sealer } from '../../kernel/sealer.ts';
import { ConfigKey } from '../keys.ts';
import { keyStates } from '../sealed-under.ts';
import { command, group, table } from './run-command.ts';

const status = command('show how many values each key encrypts', [], async (container) => {
  const states = await keyStates(container);
  const rows = states.map((one) => [one.keyId, one.key, String(one.values)]);
  return [states, table(['KEY', 'WHICH', 'VALUES'], rows, 'Nothing is encrypted yet.')];
});

const reseal = command(
  'encrypt under SECRET_KEY everything that SECRET_KEY_PREVIOUS encrypted; can be repeated',
  [],
  async (container, { json }) => {
    const progress = json ? undefined : progressBar();
    const { resealed, left } = await resealAll(container, progress?.show).finally(() => {
      progress?.stop();
    });
    if (left.length > 0) process.exitCode = 1;
    const done = `Encrypted again: ${String(resealed)}. Not changed: ${String(left.length)}.`;
    return [{ resealed, left }, [done, ...left.slice(0, 20).map(inWords)].join('\n')];
  },
);

export const secretKeyCommands = group('secret-key', 'rotate the key that encrypts private keys', {
  status,
  reseal,
});

interface Left {
  readonly what: string;
  readonly id: string;
  readonly reason: string;
}

/** The values in the database, and the root of the local authority, which is a file. */
const resealAll = async (
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

/** On a terminal only, and on standard error, so that the result can be piped. */
const progressBar = () => {
  const format = 'encrypting [{bar}] {value} of {total}';
  const bar = new SingleBar({ format, stream: process.stderr, noTTYOutput: false });
  return {
    show: (resealed: number, total: number) => {
      if (resealed === 0) bar.start(total, 0);
      else bar.update(resealed);
    },
    stop: () => {
      bar.stop();
    },
  };
};

const inWords = ({ what, id, reason }: Left): string => `  ${what} ${id}: ${reason}`;

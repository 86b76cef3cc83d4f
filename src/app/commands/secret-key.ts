import { SingleBar } from 'cli-progress';
import { onDemand } from '../on-demand.ts';
import type { Left } from '../sealed-keys.ts';
import { command, group, table } from './run-command.ts';

const status = command('show how many values each key encrypts', [], async (container) => {
  const { keyStates } = await onDemand.maintenance();
  const states = await keyStates(container);
  const rows = states.map((one) => [one.keyId, one.key, String(one.values)]);
  return [states, table(['KEY', 'WHICH', 'VALUES'], rows, 'Nothing is encrypted yet.')];
});

const reseal = command(
  'encrypt under SECRET_KEY everything that SECRET_KEY_PREVIOUS encrypted; can be repeated',
  [],
  async (container, { json }) => {
    const progress = json ? undefined : progressBar();
    const { resealAll } = await onDemand.maintenance();
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

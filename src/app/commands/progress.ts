import { SingleBar } from 'cli-progress';
import type { OutputOptions } from './run-command.ts';

type Show = (step: string, done: number, total: number | undefined) => void;

/** Shows the progress of `work` on a terminal, and on standard error, so that the result can be piped. */
export const progressOf = async <T>(
  { json }: OutputOptions,
  work: (show: Show) => Promise<T>,
): Promise<T> => {
  if (json) return work(() => undefined);
  const bar = new SingleBar({
    format: '{step} [{bar}] {value}{of}',
    stream: process.stderr,
    noTTYOutput: false,
    hideCursor: true,
    clearOnComplete: true,
  });
  bar.start(1, 0, { step: '', of: '' });
  try {
    return await work((step, done, total) => {
      bar.setTotal(total ?? done);
      bar.update(done, { step, of: total === undefined ? '' : ` of ${String(total)}` });
    });
  } finally {
    bar.stop();
  }
};

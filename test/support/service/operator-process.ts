import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Done, Errand } from './errand.ts';
import { until } from '../until.ts';

const main = join(import.meta.dirname, '../../..', 'src', 'main.ts');

type Written = () => void;

const takeDown = (stream: NodeJS.WriteStream): (() => string) => {
  let written = '';
  stream.write = (
    text: string | Uint8Array,
    ...rest: readonly (string | Written | undefined)[]
  ) => {
    written += String(text);
    const done = rest.at(-1);
    if (typeof done === 'function') queueMicrotask(done);
    return true;
  };
  return () => {
    const all = written;
    written = '';
    return all;
  };
};

const stdout = takeDown(process.stdout);
const stderr = takeDown(process.stderr);

/** Resources that do not keep this process alive. An Immediate and a file that is being closed end at once. */
const over = ['Immediate', 'CloseReq'];
const held = (): string =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => !over.includes(kind))
    .toSorted()
    .join(' ');

const exitCode = (): number => Number(process.exitCode);

const doErrand = async ({ number, folder, args, env }: Errand): Promise<Done> => {
  const before = held();
  process.chdir(folder);
  process.env = { ...env };
  process.argv = [process.execPath, main, ...args];
  process.exitCode = 0;
  // A unique name lets the whole file run again, while its imports stay loaded.
  await import(`${pathToFileURL(main).href}?${String(number)}`);
  const code = exitCode();
  // A command that leaves something open would never exit as a process.
  await until(`nothing but ${before} is held; now ${held()}`, () => held() === before);
  return { number, code, stdout: stdout(), stderr: stderr() };
};

let last: Promise<unknown> = Promise.resolve();
process.on('message', (errand: Errand) => {
  last = last.then(async () => process.send?.(await doErrand(errand)));
});

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';

export interface Lives {
  readonly code: number;
  readonly lines: readonly string[];
}

const root = resolve(import.meta.dirname, '../..');

/**
 * Runs the simulator like `make simulate`, in a separate process, because it replaces what Node gives to all modules.
 * @param settings as on the command line of `make`, such as `SEED`
 * @param cwd the folder of the project, or of a copy of it
 */
export const simulatedLives = (
  settings: Readonly<Record<string, string>>,
  cwd = root,
): Promise<Lives> => simulated('main.ts', { cwd, env: { ...process.env, ...settings } });

export const simulated = (
  program: string,
  {
    cwd = root,
    env = process.env,
  }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Lives> =>
  new Promise((done) => {
    const options = { cwd, env, maxBuffer: 2 ** 26 };
    const args = ['--disable-warning=ExperimentalWarning', `test/simulation/${program}`];
    const child = execFile(process.execPath, args, options, (_error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
      done({ code: child.exitCode ?? 1, lines });
    });
  });

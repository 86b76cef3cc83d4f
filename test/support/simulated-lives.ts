import { execFile } from 'node:child_process';
import { join } from 'node:path';

export interface Lives {
  /** 0: no law was broken. */
  readonly code: number;
  /** What was printed, line by line. */
  readonly lines: readonly string[];
}

const program = join(import.meta.dirname, '../simulation/main.ts');

/**
 * Runs the simulator as `make simulate` does, in a process of its own, because it replaces what Node gives to all modules.
 * @param settings as on the command line of `make`, such as `SEED`
 */
export const simulatedLives = (settings: Readonly<Record<string, string>>): Promise<Lives> =>
  new Promise((resolve) => {
    const env = { ...process.env, ...settings };
    const args = ['--disable-warning=ExperimentalWarning', program];
    const child = execFile(process.execPath, args, { env }, (_error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
      resolve({ code: child.exitCode ?? 1, lines });
    });
  });

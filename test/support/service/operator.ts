import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startGuard } from '../servers/debian-server.ts';
import type { CommandResult, Done, Errand } from './errand.ts';

const script = join(import.meta.dirname, 'operator-process.ts');

/**
 * Runs command lines one after the other in one process, which loads the program once. Each line runs src/main.ts anew,
 * with its own settings, and counts as done when nothing is left that would keep its process alive.
 */
export class Operator {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #waiting = new Map<number, PromiseWithResolvers<CommandResult>>();
  #number = 0;

  /** @param settings read by Node at its start, and added to those of each command */
  constructor(folder: string, settings: Errand['env']) {
    const stdio = ['ignore', 'inherit', 'pipe', 'ipc'] as const;
    const args = ['--disable-warning=ExperimentalWarning', script];
    const env = { PATH: process.env['PATH'], ...settings };
    const child = spawn(process.execPath, args, { env, cwd: folder, stdio: [...stdio] });
    // Ends with this test run, even if that is killed.
    const guard = startGuard(join(folder, 'nothing'));
    guard.write(`${child.pid ?? ''}\n`);
    let fault = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (fault += text));
    child.on('message', ({ number, ...result }: Done) => {
      this.#waiting.get(number)?.resolve(result);
      this.#waiting.delete(number);
    });
    this.#child = child;
    this.#exit = once(child, 'close').then(() => {
      guard.end('\n');
      const error = new Error(`the process for commands ended:\n${fault}`);
      for (const { reject } of this.#waiting.values()) reject(error);
    });
  }

  run(args: readonly string[], env: Errand['env']): Promise<CommandResult> {
    const number = ++this.#number;
    const result = Promise.withResolvers<CommandResult>();
    this.#waiting.set(number, result);
    this.#child.send({ number, args, env: { PATH: process.env['PATH'], ...env } } satisfies Errand);
    return result.promise;
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}

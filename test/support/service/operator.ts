import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startGuard } from '../servers/debian-server.ts';
import { settingsReadAtStart, type CommandResult, type Done, type Errand } from './errand.ts';
import { lastingFolder } from './lasting-folder.ts';

const script = join(import.meta.dirname, 'operator-process.ts');

/**
 * Runs command lines one after the other in one process, which loads the program once. Each line runs src/main.ts again
 * with different settings, and is finished when nothing is left that would keep its process alive.
 */
export class Operator {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #waiting = new Map<number, PromiseWithResolvers<CommandResult>>();
  #number = 0;

  /** @param settings read by Node at its start, and added to those of each command */
  constructor(settings: Errand['env']) {
    const stdio = ['ignore', 'inherit', 'pipe', 'ipc'] as const;
    const args = ['--disable-warning=ExperimentalWarning', script];
    const env = { PATH: process.env['PATH'], ...settings };
    const child = spawn(process.execPath, args, { env, stdio: [...stdio] });
    // Ends with this test run, even if that is killed.
    const guard = startGuard(join(tmpdir(), 'animal-store-nothing'));
    guard.write(`${child.pid ?? ''}\n`);
    let fault = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (fault += text));
    child.on('message', ({ number, ...result }: Done) => {
      this.#waiting.get(number)?.resolve(result);
      this.#waiting.delete(number);
      this.#keepAwake(this.#waiting.size > 0);
    });
    this.#child = child;
    this.#keepAwake(false);
    this.#exit = once(child, 'close').then(() => {
      guard.end('\n');
      const error = new Error(`the process for commands ended:\n${fault}`);
      for (const { reject } of this.#waiting.values()) reject(error);
    });
  }

  run(folder: string, args: readonly string[], settings: Errand['env']): Promise<CommandResult> {
    const number = ++this.#number;
    const result = Promise.withResolvers<CommandResult>();
    this.#waiting.set(number, result);
    this.#keepAwake(true);
    const env = { PATH: process.env['PATH'], ...settings };
    this.#child.send({ number, folder, args, env } satisfies Errand);
    return result.promise;
  }

  isRunning(): boolean {
    return this.#child.connected;
  }

  isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  /** An idle operator does not keep the test process alive. */
  #keepAwake(isBusy: boolean): void {
    const change = isBusy ? 'ref' : 'unref';
    this.#child[change]();
    this.#child.channel?.[change]();
    (this.#child.stderr as Socket | null)?.[change]();
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}

/** The operators of one home. Homes of a process share operators whose start settings are equal. */
export class Operators {
  static readonly #all = new Map<string, Operator>();
  readonly #folder: string;
  readonly #own = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param desk commands at one desk run one after the other, and in parallel with other desks */
  run(args: readonly string[], env: Errand['env'], desk: number): Promise<CommandResult> {
    const fixed = settingsReadAtStart(env);
    const key = JSON.stringify([desk, fixed]);
    const known = Operators.#all.get(key);
    const operator = known?.isRunning() ? known : new Operator(fixed);
    Operators.#all.set(key, operator);
    this.#own.add(key);
    return operator.run(this.#folder, args, env);
  }

  /** Ends operators that no other home can use, and those that are still busy. */
  async end(): Promise<void> {
    for (const key of this.#own) {
      const operator = Operators.#all.get(key);
      if (!operator || (isForAll(key) && !operator.isBusy())) continue;
      Operators.#all.delete(key);
      await operator.end();
    }
  }
}

/** Other files in settings belong to one test. More desks with such files are too rare to be kept. */
const isForAll = (key: string): boolean => {
  const [desk, fixed] = JSON.parse(key) as [number, Errand['env']];
  const named = [fixed['NODE_EXTRA_CA_CERTS'], fixed['FAKETIME_TIMESTAMP_FILE']].filter(Boolean);
  return named.length === 0 || (desk === 0 && named.every((one) => isLasting(one)));
};

const isLasting = (file = ''): boolean => dirname(file) === lastingFolder();

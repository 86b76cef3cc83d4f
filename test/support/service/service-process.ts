import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyDatabase, type DatabaseKind, type TestDatabase } from '../servers/databases.ts';
import { findFreePort, startGuard } from '../servers/debian-server.ts';
import type { CommandResult } from './errand.ts';
import { Operators } from './operator.ts';
import { until } from '../until.ts';

const root = join(import.meta.dirname, '../../..');
const main = join(root, 'src', 'main.ts');
/** Halves the start time of each process. */
const compileCache = { NODE_COMPILE_CACHE: join(root, '.cache', 'compile') };

export type Settings = Readonly<Record<string, string>>;

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Service {
  readonly origin: string;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  hasEnded(): boolean;
  /** @returns the outcome after `signal`, or after the process has ended on its own */
  end(signal?: NodeJS.Signals): Promise<Exit>;
  signal(signal: NodeJS.Signals): void;
}

export interface Home {
  readonly settings: Settings;
  /**
   * Runs a command in a process that has already loaded the program; runs `serve` in a new one.
   * @param desk commands at one desk run one after the other, and in parallel with other desks
   */
  run(args: readonly string[], settings?: Settings, desk?: number): Promise<CommandResult>;
  execute(args: readonly string[], settings?: Settings): Promise<CommandResult>;
  /** Waits until the service is ready. @throws Error with its output if it ends before that */
  start(settings?: Settings): Promise<Service>;
  begin(settings?: Settings): Service;
  remove(): Promise<void>;
}

/** @param storage a kind of database, to create an empty one, or an existing empty one */
export const newHome = async (storage: DatabaseKind | TestDatabase): Promise<Home> => {
  const database = typeof storage === 'string' ? await emptyDatabase(storage) : storage;
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-home-'));
  const folderGuard = startGuard(folder);
  const own: Settings = {
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, 'var'),
    PORT: String(await findFreePort()),
    EDGE_HTTP_PORT: '0',
    EDGE_HTTPS_PORT: '0',
  };
  const processes: { readonly child: ChildProcess; readonly exit: Promise<Exit> }[] = [];

  const operators = new Operators(folder);

  const launch = (args: readonly string[], settings: Settings) => {
    const env = { PATH: process.env['PATH'], ...compileCache, ...own, ...settings };
    const child = spawn(process.execPath, [main, ...args], { env, cwd: folder });
    // Ends with this test run, even if that is killed.
    const guard = startGuard(join(folder, 'nothing'));
    guard.write(`${child.pid ?? ''}\n`);
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    child.stdin.end();
    const exit = once(child, 'close').then(([code, signal]: unknown[]): Exit => {
      guard.end('\n');
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
    processes.push({ child, exit });
    return { child, output, exit };
  };

  const begin = (settings: Settings = {}): Service => {
    const { child, output, exit } = launch(['serve'], settings);
    let ended = false;
    void exit.then(() => (ended = true));
    return {
      origin: `http://127.0.0.1:${{ ...own, ...settings }['PORT'] ?? ''}`,
      pid: child.pid ?? 0,
      stdout: () => output.stdout,
      stderr: () => output.stderr,
      hasEnded: () => ended,
      signal: (signal) => void child.kill(signal),
      end: (signal) => {
        if (signal) child.kill(signal);
        return exit;
      },
    };
  };

  const execute: Home['execute'] = async (args, settings = {}) => {
    const { output, exit } = launch(args, settings);
    const { code } = await exit;
    return { code, ...output };
  };

  return {
    settings: own,
    execute,
    run: (args, settings = {}, desk = 0) => {
      if (args[0] === 'serve') return execute(args, settings);
      const all = { ...compileCache, ...own, ...settings };
      return operators.run(args, all, desk);
    },
    begin,
    start: async (settings = {}) => {
      const service = begin(settings);
      // A start may be slow on a busy machine.
      const serves = () => {
        if (service.hasEnded())
          throw new Error(`it ended:\n${service.stdout()}\n${service.stderr()}`);
        return /^Animal Store |"msg":"ready"/m.test(service.stdout());
      };
      await until('the service serves', serves);
      return service;
    },
    remove: async () => {
      for (const { child } of processes) child.kill('SIGKILL');
      await operators.end();
      await Promise.all(processes.map(({ exit }) => exit));
      await database.drop();
      folderGuard.end();
    },
  };
};

export const printedKey = (service: Pick<Service, 'stdout'>): string => {
  const [key] = /pets_live_[0-9A-Za-z]{38}/.exec(service.stdout()) ?? [];
  if (key === undefined) throw new Error(`no key in:\n${service.stdout()}`);
  return key;
};

export const printedAccount = (service: Pick<Service, 'stdout'>): string => {
  const [account] = /acct_[0-9a-f]{32}/.exec(service.stdout()) ?? [];
  if (account === undefined) throw new Error(`no account in:\n${service.stdout()}`);
  return account;
};

/** Lifts all limits of a first start's account, and waits until that takes effect. */
export const liftLimits = async (
  home: Pick<Home, 'run'>,
  service: Service,
  perMinute = 1_000_000,
): Promise<void> => {
  const limits = ['--per-minute', String(perMinute), '--per-day', '100000000'];
  const plan = ['--plan', 'enterprise', ...limits];
  const { code, stderr } = await home.run([
    ...['account', 'set-plan', '--account', printedAccount(service)],
    ...plan,
  ]);
  if (code !== 0) throw new Error(stderr);
  const headers = { Authorization: `Bearer ${printedKey(service)}` };
  await until('the service knows the plan', async () => {
    const answer = await fetch(`${service.origin}/v1/pets`, { headers });
    await answer.arrayBuffer();
    return answer.headers.get('RateLimit-Policy')?.includes(`q=${perMinute};`);
  });
};

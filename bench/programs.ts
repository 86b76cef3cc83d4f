import { spawn, type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const mostMsToStop = 5_000;
const mostMsToStart = 20_000;
const started: ChildProcess[] = [];

/** The core of the servers in a comparison, and the core of their load. */
export const [serverCore, loadCore] = ['0', '1'];

/** Put before a command to raise its priority over other programs on the machine. Only root may do that. */
export const first: readonly string[] = process.getuid?.() === 0 ? ['nice', '-n', '-10'] : [];

/**
 * Sets the priority of the whole session: Linux shares the processor among sessions first, and `nice` counts only
 * within one (sched(7), autogroup). Does nothing without such groups. Only root may raise a priority.
 */
const niceSession = (pid: number | 'self', nice: number): void => {
  try {
    writeFileSync(`/proc/${String(pid)}/autogroup`, String(nice));
  } catch {
    // The benchmark still runs, but other programs disturb it more.
  }
};

/** Ends the child when the benchmark ends or is interrupted. */
export const endsWithUs = (child: ChildProcess): ChildProcess => {
  started.push(child);
  return child;
};

/** A program on one core. Its standard error explains a missing answer. */
export interface PinnedProgram {
  readonly pid: number;
  readonly stderr: () => string;
}

export const startPinned = (
  core: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): PinnedProgram => {
  const child = spawn('taskset', ['-c', core, ...first, ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let written = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written += text));
  child.once('error', (error) => (written += error.message));
  if (child.pid === undefined) throw new Error('taskset of util-linux is missing');
  started.push(child);
  return { pid: child.pid, stderr: () => written };
};

/** @throws Error with the program's output when nothing answers in time */
export const answering = async ({ stderr }: PinnedProgram, url: string): Promise<void> => {
  const end = performance.now() + mostMsToStart;
  while (performance.now() < end) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer && answer.status < 500) return;
    await delay(50);
  }
  throw new Error(`nothing answers at ${url}\n${stderr()}`);
};

/** A program on the servers' core that answers at `origin`. */
export interface Server {
  readonly pid: number;
  readonly origin: string;
}

/** The packaged program, which `make dist` builds. */
export const packaged = 'dist/bin/animal-store.cjs';

/** Starts the service with these settings. @returns when it is ready */
export const startService = async (
  settings: Readonly<Record<string, string>>,
  core = serverCore,
): Promise<Server> => {
  const port = String(await freePort());
  const ports = { PORT: port, EDGE_HTTP_PORT: '0', EDGE_HTTPS_PORT: '0' };
  const program = startPinned(core, [packaged, 'serve'], { ...settings, ...ports });
  const origin = `http://127.0.0.1:${port}`;
  await answering(program, `${origin}/readyz`);
  return { pid: program.pid, origin };
};

/** Starts a program of this folder. Its first argument is the port to listen on. */
export const startBare = async (file: string, ...args: readonly string[]): Promise<Server> => {
  const port = String(await freePort());
  const command = [process.execPath, '--max-semi-space-size=16', `bench/${file}`, port, ...args];
  const program = startPinned(serverCore, command);
  const origin = `http://127.0.0.1:${port}`;
  await answering(program, origin);
  return { pid: program.pid, origin };
};

/**
 * Keeps every core awake at the lowest priority, for at most half an hour. On a virtual machine, waking an idle core
 * costs a server more than answering a request. Slow servers, whose clients idle, pay that most often, so the ratio of
 * two servers would describe the machine rather than the servers.
 * @returns a function that ends it
 */
export const keepCoresAwake = (): (() => void) => {
  const spin = `const end = Date.now() + 1_800_000; const parent = ${String(process.pid)};
    while (Date.now() < end && process.ppid === parent);`;
  niceSession('self', -10);
  const command = ['-n', '19', process.execPath, '-e', spin];
  const spinners = Array.from({ length: availableParallelism() }, () => {
    // Runs in a separate session: in ours it would use up the servers' share while they wait.
    const spinner = spawn('nice', command, { stdio: 'ignore', detached: true });
    if (spinner.pid !== undefined) niceSession(spinner.pid, 19);
    return spinner;
  });
  return () => {
    niceSession('self', 0);
    for (const spinner of spinners) spinner.kill();
  };
};

/** Stops all programs started so far. */
export const stopPrograms = async (): Promise<void> => {
  await Promise.all(
    started
      .splice(0)
      .filter((child) => child.exitCode === null && child.signalCode === null)
      .map(async (child) => {
        const ended = once(child, 'exit');
        child.kill();
        const impatience = setTimeout(() => child.kill('SIGKILL'), mostMsToStop);
        await ended;
        clearTimeout(impatience);
      }),
  );
};

export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
};

/** Waiting times in milliseconds. */
export interface Waits {
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

interface Question {
  readonly url: string;
  /** Pause between requests. */
  readonly everyMs: number;
  readonly key?: string;
}

/**
 * Sends requests from the load's core at a steady rate, even if earlier answers are missing.
 * @returns the waiting times; `stop` ends it early
 * @throws Error when an answer is not 200
 */
export const startAsking = ({ url, everyMs, key = '' }: Question, milliseconds: number) => {
  const command = [process.execPath, 'bench/probe.ts', url, String(everyMs), String(milliseconds)];
  const args = ['-c', loadCore, ...first, ...command, key];
  const timeout = milliseconds + 30_000;
  const asking = promisify(execFile)('taskset', args, { timeout });
  const waits = asking.then(({ stdout }) => JSON.parse(stdout) as Waits);
  // The caller may await `waits` only later, and Node would report an unhandled rejection.
  waits.catch(() => undefined);
  return { waits, stop: () => asking.child.kill() };
};

/** The unit in /proc/<pid>/stat (proc(5)), on every Linux that Node supports. */
const ticksPerSecond = 100;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly cpuSeconds: number;
}

/** CPU seconds that a process and its descendants have used so far. */
export const cpuSecondsOf = (pid: number): number =>
  treeOf(pid).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);

/** Resident memory of a process and its descendants. */
export const megabytesOf = (pid: number): number =>
  treeOf(pid).reduce((sum, one) => sum + kilobytesOf(one.pid) / 1024, 0);

const kilobytesOf = (pid: number): number => {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
};

export const childrenOf = (pid: number): readonly number[] =>
  treeOf(pid)
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid);

const treeOf = (root: number): readonly ProcessStat[] => {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)));
  const below = (pid: number): readonly ProcessStat[] =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)]);
  return [...all.filter(({ pid }) => pid === root), ...below(root)];
};

/** Returns an empty list if the process has ended. */
const statOf = (pid: number): readonly ProcessStat[] => {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The second field is a name in parentheses, which may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [, parent, user, system] = [0, 1, 11, 12].map((at) => Number(fields[at]));
    const ticks = (user ?? 0) + (system ?? 0);
    return [{ pid, parent: parent ?? 0, cpuSeconds: ticks / ticksPerSecond }];
  } catch {
    return [];
  }
};

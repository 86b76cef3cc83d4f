import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findServer, libraryEnvironment } from '../test/support/servers/debian-server.ts';
import { first, loadCore, type Server, cpuSecondsOf } from './programs.ts';

export interface WrkRequest {
  readonly url: string;
  readonly connections?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A Lua script for requests other than GET. */
  readonly script?: string;
  /** Least bytes per body: fewer bytes mean wrong answers. */
  readonly leastBytes?: number;
  /** The core for wrk, if not the load's. */
  readonly core?: string;
}

/** Runs Debian's wrk on the load's core: one thread, keep-alive. @throws Error when an answer is not 2xx or 3xx */
export const runWrk = async (request: WrkRequest, milliseconds: number) => {
  const { url, connections = 32, headers = {}, script, leastBytes = 0, core = loadCore } = request;
  const wrk = await findServer('wrk', ['wrk', 'libluajit-5.1-2', 'libluajit-5.1-common']);
  const seconds = String(Math.max(1, Math.round(milliseconds / 1000)));
  const args = ['-t1', `-c${String(connections)}`, `-d${seconds}`, '--latency'];
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`);
  if (script !== undefined) args.push('-s', script);
  const command = ['-c', core, ...first, wrk.executable, ...args, url];
  const { stdout } = await promisify(execFile)('taskset', command, {
    timeout: 60_000,
    env: { ...process.env, ...libraryEnvironment(wrk.root) },
  });
  const found = readWrk(stdout);
  if (!found.count || /Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  if (found.bytes / found.count < leastBytes) throw new Error(`answers too short: ${stdout}`);
  return found;
};

const readWrk = (output: string) => {
  const [, count, seconds, amount, unit = ''] =
    /(\d+) requests in ([\d.]+)s, ([\d.]+)([KMGT]?)B read/.exec(output) ?? [];
  const [, p99, time = ''] = /^\s*99%\s+([\d.]+)(us|ms|s|m)$/m.exec(output) ?? [];
  const millisecondsOf: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };
  return {
    count: Number(count),
    seconds: Number(seconds),
    bytes: Number(amount) * 1024 ** ' KMGT'.indexOf(unit || ' '),
    p99Ms: Number(p99) * (millisecondsOf[time] ?? NaN),
  };
};

/** Creates a side that wrk loads. */
export const wrkSide = (name: string, { pid }: Pick<Server, 'pid'>, request: WrkRequest): Side => ({
  name,
  load: (milliseconds): Promise<Rate> => rateOf(pid, () => runWrk(request, milliseconds)),
});

/** Writes a script that posts the same JSON, with a fresh Idempotency-Key each time if wanted. @returns its path */
export const postScript = async (
  folder: string,
  body: unknown,
  withIdempotencyKeys = false,
): Promise<string> => {
  const file = join(folder, withIdempotencyKeys ? 'post-once.lua' : 'post.lua');
  const lines = [
    'wrk.method = "POST"',
    `wrk.body = [[${JSON.stringify(body)}]]`,
    'wrk.headers["Content-Type"] = "application/json"',
  ];
  // Each run of wrk counts from a different start, so that no key is used twice.
  if (withIdempotencyKeys) {
    lines.push(
      'local run, n = io.open("/dev/urandom", "rb"):read(12):gsub(".", function(c) return string.format("%02x", c:byte()) end), 0',
      'request = function()',
      '  n = n + 1',
      '  wrk.headers["Idempotency-Key"] = run .. "-" .. n',
      '  return wrk.format()',
      'end',
    );
  }
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
};

export interface Rate {
  readonly perSecond: number;
  /** The number to compare. It is valid even if the load cannot keep the server busy. */
  readonly perCpuSecond: number;
  readonly cpuSeconds: number;
  /** The 99th percentile of waiting times, if the load measures it. */
  readonly p99Ms: number;
}

/** One of the compared servers. */
export interface Side {
  readonly name: string;
  readonly load: (milliseconds: number) => Promise<Rate>;
}

interface Timing {
  /** CPU seconds of the server, not elapsed time. */
  readonly warmUpSeconds: number;
  readonly rounds: number;
  readonly roundMs: number;
}

/** V8 keeps optimizing hot code for about five CPU seconds. */
export const usualTiming: Timing = {
  warmUpSeconds: 5,
  rounds: Number(process.env['ROUNDS'] ?? 11),
  roundMs: 1_000,
};

const mostWarmUpMs = 20_000;

interface Measured {
  readonly sides: readonly Side[];
  readonly rates: (side: Side) => readonly Rate[];
}

/**
 * Loads the sides in turns and in short rounds, so that a slow moment of the machine affects all of them.
 * @throws Error that names the side with wrong answers
 */
export const inTurns = async (
  sides: readonly Side[],
  { warmUpSeconds, rounds, roundMs }: Timing = usualTiming,
): Promise<Measured> => {
  const found = new Map(sides.map((side) => [side, [] as Rate[]]));
  for (const side of sides) {
    process.stderr.write(`  warming up: ${side.name}\n`);
    await warmUp(side, warmUpSeconds);
  }
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`  round ${String(round + 1)} of ${String(rounds)}\n`);
    for (const [side, rates] of found) rates.push(await loaded(side, roundMs));
  }
  return { sides, rates: (side) => found.get(side) ?? [] };
};

/** Counts CPU time, because a server warms up only while it runs. */
const warmUp = async (side: Side, cpuSeconds: number): Promise<void> => {
  const end = performance.now() + mostWarmUpMs;
  for (let used = 0; used < cpuSeconds && performance.now() < end;) {
    used += (await loaded(side, 2_000)).cpuSeconds;
  }
};

const loaded = async (side: Side, milliseconds: number): Promise<Rate> => {
  try {
    return await side.load(milliseconds);
  } catch (error) {
    throw new Error(`${side.name}: ${String(error)}`, { cause: error });
  }
};

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;

/** The number that `ratio` compares by default. */
const workDone = ({ perCpuSecond }: Rate): number => perCpuSecond;

/** The median of the rounds' ratios. A round measures both sides in direct succession: the machine's speed varies. */
export const ratio = ({ rates }: Measured, one: Side, other: Side, of = workDone): number => {
  const others = rates(other);
  return median(
    rates(one).flatMap((rate, round) => {
      const base = others[round];
      return base ? [of(rate) / of(base)] : [];
    }),
  );
};

/** Runs a load against a process and measures the process's CPU time. */
export const rateOf = async (
  pid: number,
  work: () => Promise<{ count: number; seconds: number; p99Ms?: number }>,
): Promise<Rate> => {
  const before = cpuSecondsOf(pid);
  const { count, seconds, p99Ms = NaN } = await work();
  const cpuSeconds = cpuSecondsOf(pid) - before;
  return { perSecond: count / seconds, perCpuSecond: count / cpuSeconds, cpuSeconds, p99Ms };
};

/** The comparison uses the second number, because the load cannot keep every server busy. */
export const rateLines = ({ sides, rates }: Measured): readonly string[] => {
  const width = Math.max(...sides.map((side) => side.name.length)) + 2;
  const heading = ['per s', 'per s of CPU', 'p99 ms'].map((text) => text.padStart(14)).join('');
  const line = (side: Side): string => {
    const all = rates(side);
    const perSecond = median(all.map((rate) => rate.perSecond)).toFixed(0);
    const perCpuSecond = median(all.map(workDone)).toFixed(0);
    const p99Ms = median(all.map((rate) => rate.p99Ms));
    const numbers = [perSecond, perCpuSecond, Number.isNaN(p99Ms) ? '' : p99Ms.toFixed(1)];
    return side.name.padEnd(width) + numbers.map((text) => text.padStart(14)).join('');
  };
  return [' '.repeat(width) + heading, ...sides.map((side) => line(side).trimEnd())];
};

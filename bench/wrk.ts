import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findServer, libraryEnvironment } from '../test/support/servers/debian-server.ts';
import { first, loadCore, type Server } from './programs.ts';
import { rateOf, type Rate, type Side } from './rounds.ts';

export interface WrkRequest {
  readonly url: string;
  readonly connections?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A file in Lua that makes other requests than GET. */
  readonly script?: string;
  /** Of each body: fewer bytes mean that the answers were not what was asked for. */
  readonly leastBytes?: number;
  /** Where wrk runs, other than usual. */
  readonly core?: string;
}

/** Debian's wrk, on the core of the load: one thread, connections that stay. @throws Error when an answer is no 2xx or 3xx */
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

/** A server under a load by wrk. */
export const wrkSide = (name: string, { pid }: Pick<Server, 'pid'>, request: WrkRequest): Side => ({
  name,
  load: (milliseconds): Promise<Rate> => rateOf(pid, () => runWrk(request, milliseconds)),
});

/** Posts the same JSON again and again, with a fresh Idempotency-Key each time if wanted. @returns the script */
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
  // Each run of wrk counts from another start, so that no key comes twice.
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

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findServer, libraryEnvironment } from '../test/support/servers/debian-server.ts';
import { loadCore } from './processes.ts';
import { cpuSecondsOf } from './server-usage.ts';
import { hostNumber, hostPattern } from './sites.ts';
import type { WebServer } from './web-servers.ts';

export interface Rate {
  readonly perSecond: number;
  /** The number to compare: it is valid even if the load cannot keep the server busy. */
  readonly perCpuSecond: number;
}

export type Load = (server: WebServer, milliseconds: number) => Promise<Rate>;

const connections = 32;

/** The page, over connections that stay. wrk may resume sessions, which does not matter here. */
export const keepAliveLoad = async (folder: string): Promise<Load> => {
  const wrk = await findServer('wrk', ['wrk', 'libluajit-5.1-2', 'libluajit-5.1-common']);
  const script = join(folder, 'resolve.lua');
  const resolve = 'wrk.resolve = function(_, port) wrk.addrs = wrk.lookup("127.0.0.1", port) end';
  await writeFile(script, `${resolve}\n`);
  return async (server, milliseconds) => {
    const url = `https://${hostNumber(0)}:${String(server.port)}/`;
    const seconds = String(Math.max(1, Math.round(milliseconds / 1000)));
    const args = ['-t1', `-c${String(connections)}`, `-d${seconds}`, '-s', script, url];
    const { output, cpuSeconds } = await runLoad(server, [wrk.executable, ...args], wrk.root);
    const [, count, duration] = /(\d+) requests in ([\d.]+)s/.exec(output) ?? [];
    if (!Number(count) || /Non-2xx|Socket errors/.test(output)) {
      throw new Error(`${server.name}: ${output}`);
    }
    return rateOf(Number(count), Number(duration), cpuSeconds);
  };
};

/** @param hosts visited in turn @param most visits, however long there would be time */
export const visitorLoad =
  (hosts = 1, most = Infinity): Load =>
  async (server, milliseconds) => {
    const args = [server.port, hostPattern, hosts, milliseconds, most].map(String);
    const command = [process.execPath, 'bench/visitors.ts', ...args];
    const { output, cpuSeconds } = await runLoad(server, command, '/');
    const found = JSON.parse(output) as Record<
      'visits' | 'failures' | 'resumed' | 'seconds',
      number
    >;
    if (found.failures > 0 || found.resumed > 0 || found.visits === 0) {
      throw new Error(`${server.name}: ${output}`);
    }
    return rateOf(found.visits, found.seconds, cpuSeconds);
  };

const runLoad = async ({ pid }: WebServer, command: readonly string[], libraries: string) => {
  const before = cpuSecondsOf(pid);
  const { stdout } = await promisify(execFile)('taskset', ['-c', loadCore, ...command], {
    timeout: 60_000,
    env: { ...process.env, ...libraryEnvironment(libraries) },
  });
  return { output: stdout, cpuSeconds: cpuSecondsOf(pid) - before };
};

const rateOf = (count: number, seconds: number, cpuSeconds: number): Rate => ({
  perSecond: count / seconds,
  perCpuSecond: count / cpuSeconds,
});

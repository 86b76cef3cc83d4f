import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadCore } from './programs.ts';
import { rateOf, type Rate } from './rounds.ts';
import { hostNumber, hostPattern } from './sites.ts';
import type { WebServer } from './web-servers.ts';
import { runWrk, type WrkRequest } from './wrk.ts';

export type Load = (server: WebServer, milliseconds: number) => Promise<Rate>;

/** The page, over connections that stay. wrk may resume sessions, which does not matter here. */
export const keepAliveLoad = async (
  folder: string,
  others: Pick<WrkRequest, 'core' | 'connections'> = {},
): Promise<Load> => {
  const script = join(folder, 'resolve.lua');
  const resolve = 'wrk.resolve = function(_, port) wrk.addrs = wrk.lookup("127.0.0.1", port) end';
  await writeFile(script, `${resolve}\n`);
  return ({ port, pid }, milliseconds) => {
    const url = `https://${hostNumber(0)}:${String(port)}/`;
    return rateOf(pid, () => runWrk({ url, script, ...others }, milliseconds));
  };
};

/** @param hosts visited in turn @param most visits, however long there would be time */
export const visitorLoad =
  (hosts = 1, most = Infinity, core = loadCore): Load =>
  ({ name, pid, port }, milliseconds) =>
    rateOf(pid, async () => {
      const args = [port, hostPattern, hosts, milliseconds, most].map(String);
      const command = ['-c', core, process.execPath, 'bench/visitors.ts', ...args];
      const { stdout } = await promisify(execFile)('taskset', command, { timeout: 60_000 });
      const found = JSON.parse(stdout) as Record<
        'visits' | 'failures' | 'resumed' | 'seconds',
        number
      >;
      if (found.failures > 0 || found.resumed > 0 || found.visits === 0) {
        throw new Error(`${name}: ${stdout}`);
      }
      return { count: found.visits, seconds: found.seconds };
    });

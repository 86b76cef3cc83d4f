import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { randomBytes } from 'node:crypto';
import {
  loadCore,
  megabytesOf,
  serverCore,
  startService,
  stopPrograms,
  type Server,
  childrenOf,
  cpuSecondsOf,
} from './programs.ts';
import {
  rateOf,
  type Rate,
  runWrk,
  type WrkRequest,
  inTurns,
  rateLines,
  ratio,
  type Side,
  usualTiming,
  wrkSide,
} from './rounds.ts';
import {
  hostNumber,
  hostPattern,
  type WebServer,
  seedSites,
  startBareHttps,
  startCaddy,
  startEdge,
  startNginx,
  writeSite,
} from './web-servers.ts';
import { atLeast, atMost, target, type Report } from './report.ts';
import { startRedis } from '../test/support/servers/redis.ts';
import { withMariaDb, storeWithAnimals } from './store.ts';

type Load = (server: WebServer, milliseconds: number) => Promise<Rate>;

/** Loads the page over keep-alive connections. wrk may resume sessions, which does not matter here. */
const keepAliveLoad = async (
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

/** @param hosts visited in turn @param most maximum number of visits, even if time is left */
const visitorLoad =
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

const hosts = 10_000;
const firstVisitsMs = 20_000;

/** 10 KB of content that does not repeat. */
const files = {
  'index.html': Buffer.from(randomBytes(7_680).toString('base64')),
  'small.txt': Buffer.from('ok\n'),
};

/**
 * Compares the edge with one and with 10 000 hosts to nginx, Caddy and plain node:https: a page over keep-alive
 * connections, and first-time visitors. All servers share one core; the load runs on the other one.
 */
export const edgeBench = async (folder: string): Promise<Report> => {
  const others = join(folder, 'web');
  const [few, many] = [settingsIn(join(folder, 'few')), settingsIn(join(folder, 'many'))];
  const small = await seedSites(few, 1, files);
  const large = await seedSites(many, hosts, files);
  await writeSite(others, files, small);
  const nginx = await startNginx(others, small.root);
  const caddy = await startCaddy(others, small.root);
  const bare = await startBareHttps(others, small.root);
  const edge = await startEdge('edge, 1 host', few, small.root);
  const wide = await startEdge(`edge, ${String(hosts)} hosts`, many, large.root);
  const servers = [nginx, caddy, bare, edge, wide];

  const atStart = megabytesOf(wide.pid);
  const first = await visitorLoad(hosts, hosts)(wide, firstVisitsMs);
  const afterAll = megabytesOf(wide.pid);
  const pages = await measured(servers, await keepAliveLoad(folder));
  const visits = await measured(servers, visitorLoad());
  return {
    heading:
      'the edge: a 10 KB page over HTTPS on 32 connections that stay, and full TLS 1.3 handshakes',
    lines: [
      'pages',
      ...pages.lines,
      'handshakes, each with one small request',
      ...visits.lines,
      `${String(hosts)} hosts, first visits: ${first.perCpuSecond.toFixed(0)} per s of CPU`,
      `${String(hosts)} hosts: ${atStart.toFixed(0)} MB at the start`,
      beside('edge, 1 host, of nginx', [pages, visits], edge, nginx),
      beside('edge, 1 host, of Caddy', [pages, visits], edge, caddy),
      beside(`edge, ${String(hosts)} hosts of 1`, [pages, visits], wide, edge),
    ],
    targets: [
      target('edge, pages, of bare node:https', pages.of(edge, bare), atLeast(1)),
      target('edge, pages, 10 000 hosts, of bare', pages.of(wide, bare), atLeast(1)),
      target('edge, handshakes, of bare node:https', visits.of(edge, bare), atLeast(1)),
      target('edge, handshakes, 10 000 hosts, of bare', visits.of(wide, bare), atLeast(1)),
      target('edge, memory after a visit to each of 10 000 hosts', afterAll, atMost(250, 'MB')),
    ],
  };
};

const settingsIn = (folder: string) => ({
  DATA_DIR: folder,
  DATABASE_URL: `sqlite:${join(folder, 'edge.db')}`,
  LOG_LEVEL: 'warn',
});

interface Found {
  readonly lines: readonly string[];
  readonly of: (one: WebServer, other: WebServer) => number;
}

/** Adds a line that has no target. */
const beside = (
  what: string,
  [pages, visits]: readonly [Found, Found],
  ...sides: readonly [WebServer, WebServer]
): string =>
  `${what}: ${pages.of(...sides).toFixed(2)} (pages), ${visits.of(...sides).toFixed(2)} (handshakes)`;

const measured = async (servers: readonly WebServer[], load: Load): Promise<Found> => {
  const sides = new Map(
    servers.map((server): [WebServer, Side] => [
      server,
      { name: server.name, load: (milliseconds) => load(server, milliseconds) },
    ]),
  );
  const found = await inTurns([...sides.values()]);
  const sideOf = (server: WebServer): Side => {
    const side = sides.get(server);
    if (!side) throw new Error(`${server.name} was not measured`);
    return side;
  };
  return {
    lines: rateLines(found),
    of: (one: WebServer, other: WebServer) => ratio(found, sideOf(one), sideOf(other)),
  };
};

/** Servers and load share these cores, so work is counted per CPU second of all processes, including the parent. */
const cores = `${serverCore},${loadCore}`;
/** Twice the processors must do 1.7 times the work. */
const wanted = atLeast(0.85);
/** The least share of the work that the less busy of two processes must do. */
const leastShare = atLeast(0.3);

/** Each of two processes gets as many connections as the single process in the other benchmarks. */
const connections = 64;
/** Each of the two processes warms up separately. */
const timing = { ...usualTiming, warmUpSeconds: 2 * usualTiming.warmUpSeconds };

const names = { 1: 'one process', 2: 'two processes' } as const;
type Count = keyof typeof names;

/** Compares lists of the API on MySQL and Redis with two processes and with one. */
export const apiOnAllCores = (folder: string): Promise<Report> =>
  withMariaDb(async (newDatabase) => {
    const redis = await startRedis();
    try {
      const places = { DATABASE_URL: await newDatabase(), REDIS_URL: redis.url };
      const settings = { ...places, DATA_DIR: folder, ROLES: 'api', LOG_LEVEL: 'warn' };
      const { secret } = await storeWithAnimals(settings);
      const headers = { Authorization: `Bearer ${secret}` };
      const start = (count: Count) =>
        startService({ ...settings, PROCESSES: String(count) }, cores);
      const side = (count: Count, server: Server) =>
        wrkSide(names[count], server, {
          url: `${server.origin}/v1/pets?limit=20`,
          headers,
          core: cores,
          connections,
          leastBytes: 1000,
        });
      const [one, two] = [await start(1), await start(2)];
      const lists = await compared('API', [side(1, one), side(2, two)], two);
      return {
        heading: 'list on MySQL and Redis, with one and two processes on two cores',
        ...lists,
      };
    } finally {
      await stopPrograms();
      await redis.stop();
    }
  });

/** Compares pages and handshakes of the edge with two processes and with one. */
export const edgeOnAllCores = async (folder: string): Promise<Report> => {
  const settings = {
    DATA_DIR: folder,
    DATABASE_URL: `sqlite:${join(folder, 'edge.db')}`,
    LOG_LEVEL: 'warn',
  };
  const page = Buffer.from(randomBytes(7_680).toString('base64'));
  const { root } = await seedSites(settings, 1, {
    'index.html': page,
    'small.txt': Buffer.from('ok\n'),
  });
  const start = (count: Count) =>
    startEdge(names[count], { ...settings, PROCESSES: String(count) }, root, cores);
  const [one, two] = [await start(1), await start(2)];
  const sides = (load: Awaited<ReturnType<typeof keepAliveLoad>>) =>
    [one, two].map((server) => ({ name: server.name, load: (ms: number) => load(server, ms) }));
  const pages = await compared(
    'edge, pages',
    sides(await keepAliveLoad(folder, { core: cores, connections })),
    two,
  );
  const visits = await compared('edge, handshakes', sides(visitorLoad(1, Infinity, cores)), two);
  return {
    heading: 'the edge with one and two processes on two cores',
    lines: ['pages', ...pages.lines, 'handshakes', ...visits.lines],
    targets: [...pages.targets, ...visits.targets],
  };
};

const compared = async (
  what: string,
  [one, two]: readonly Side[],
  { pid }: { readonly pid: number },
): Promise<Pick<Report, 'lines' | 'targets'>> => {
  if (!one || !two) throw new Error('two sides are compared');
  const before = childrenOf(pid).map(cpuSecondsOf);
  const measured = await inTurns([one, two], timing);
  const used = childrenOf(pid).map((child, at) => cpuSecondsOf(child) - (before[at] ?? 0));
  const share = Math.min(...used) / used.reduce((sum, one) => sum + one, 0);
  return {
    lines: rateLines(measured),
    targets: [
      target(`${what}, two processes of one`, ratio(measured, two, one), wanted),
      target(`${what}, share of the less busy of two`, share, leastShare),
    ],
  };
};

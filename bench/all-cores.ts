import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startRedis } from '../test/support/servers/redis.ts';
import { withMariaDb } from './maria-db.ts';
import { loadCore, serverCore, startService, stopPrograms, type Server } from './programs.ts';
import { atLeast, target, type Report } from './report.ts';
import { inTurns, rateLines, ratio, usualTiming, type Side } from './rounds.ts';
import { childrenOf, cpuSecondsOf } from './server-usage.ts';
import { seedSites } from './sites.ts';
import { storeWithAnimals } from './store.ts';
import { keepAliveLoad, visitorLoad } from './tls-load.ts';
import { startEdge } from './web-servers.ts';
import { wrkSide } from './wrk.ts';

/** Servers and load run on the same cores, so the work is counted for each second of all processors, parent included. */
const cores = `${serverCore},${loadCore}`;
/** 1.7 times the work with twice the processors. */
const wanted = atLeast(0.85);
/** Of the work, what the less busy of two processes should do. */
const leastShare = atLeast(0.3);

/** Enough for two processes to have as many as one has in the other benchmarks. */
const connections = 64;
/** Each of two processes learns by itself. */
const timing = { ...usualTiming, warmUpSeconds: 2 * usualTiming.warmUpSeconds };

const names = { 1: 'one process', 2: 'two processes' } as const;
type Count = keyof typeof names;

/** Lists of the API on MySQL and Redis with two processes against one. */
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
          ...{
            url: `${server.origin}/v1/pets?limit=20`,
            headers,
            core: cores,
            connections,
            leastBytes: 1000,
          },
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

/** Pages and handshakes of the edge with two processes against one. */
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

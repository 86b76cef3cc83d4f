import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { megabytesOf } from './server-usage.ts';
import { seedSites } from './sites.ts';
import { keepAliveLoad, visitorLoad, type Load, type Rate } from './tls-load.ts';
import {
  startBareHttps,
  startCaddy,
  startEdge,
  startNginx,
  writeSite,
  type WebServer,
} from './web-servers.ts';

const hosts = 10_000;
const rounds = 5;
const roundMs = 800;
/** V8 goes on optimizing what runs often for so long. */
const warmUpMs = 6_000;
const firstVisitsMs = 20_000;

/** 10 KB that do not repeat themselves. */
const files = {
  'index.html': Buffer.from(randomBytes(7_680).toString('base64')),
  'small.txt': Buffer.from('ok\n'),
};

/**
 * The edge with one and with 10 000 hosts against nginx, Caddy and bare node:https: a page over connections that
 * stay, and visitors who come for the first time. All servers share one core, the load has the other one.
 */
export const edgeBench = async (folder: string): Promise<readonly string[]> => {
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
  const pages = await inTurns(servers, await keepAliveLoad(folder));
  const visits = await inTurns(servers, visitorLoad());
  return [
    '10 KB page over HTTPS, one core, 32 connections that stay',
    heading,
    ...servers.map((server) => line(server.name, pages(server))),
    `  edge of nginx: ${ratio(pages(edge), pages(nginx))} (wanted: at least 100 %)`,
    `  ${String(hosts)} hosts of 1: ${ratio(pages(wide), pages(edge))} (wanted: about 100 %)`,
    'full TLS 1.3 handshakes, one core, each with one small request',
    heading,
    ...servers.map((server) => line(server.name, visits(server))),
    line(`${String(hosts)} hosts, first visits`, first),
    `  edge of Caddy: ${ratio(visits(edge), visits(caddy))} (wanted: at least 100 %)`,
    `  ${String(hosts)} hosts of 1: ${ratio(visits(wide), visits(edge))} (wanted: about 100 %)`,
    `edge with ${String(hosts)} hosts: ${atStart.toFixed(0)} MB at the start, ` +
      `${afterAll.toFixed(0)} MB after a visit to each (wanted: less than 300 MB)`,
  ];
};

const settingsIn = (folder: string) => ({
  DATA_DIR: folder,
  DATABASE_URL: `sqlite:${join(folder, 'edge.db')}`,
  LOG_LEVEL: 'warn',
});

/** Loads them in turns, so that a slow moment of the machine hits all of them. @returns the median of each */
const inTurns = async (
  servers: readonly WebServer[],
  load: Load,
): Promise<(server: WebServer) => Rate> => {
  const found = new Map(servers.map((server) => [server, [] as Rate[]]));
  for (const server of servers) await load(server, warmUpMs);
  for (let round = 0; round < rounds; round++) {
    for (const [server, rates] of found) rates.push(await load(server, roundMs));
  }
  return (server) => median(found.get(server) ?? []);
};

const median = (rates: readonly Rate[]): Rate => {
  const sorted = rates.toSorted((a, b) => a.perCpuSecond - b.perCpuSecond);
  return sorted[Math.floor(rates.length / 2)] ?? { perSecond: 0, perCpuSecond: 0 };
};

/** The second number is what is compared: the load cannot keep every server busy. */
const heading = `${'per second'.padStart(38)}   per second of the server's processor time`;

const line = (name: string, { perSecond, perCpuSecond }: Rate): string =>
  `  ${name.padEnd(26)}${perSecond.toFixed(0).padStart(10)}${perCpuSecond.toFixed(0).padStart(10)}`;

const ratio = (one: Rate, other: Rate): string =>
  `${((one.perCpuSecond / other.perCpuSecond) * 100).toFixed(0)} %`;

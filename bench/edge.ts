import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { atLeast, atMost, target, type Report } from './report.ts';
import { inTurns, rateLines, ratio, type Side } from './rounds.ts';
import { megabytesOf } from './server-usage.ts';
import { seedSites } from './sites.ts';
import { keepAliveLoad, visitorLoad, type Load } from './tls-load.ts';
import {
  startBareHttps,
  startCaddy,
  startEdge,
  startNginx,
  writeSite,
  type WebServer,
} from './web-servers.ts';

const hosts = 10_000;
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

/** For comparison only. */
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

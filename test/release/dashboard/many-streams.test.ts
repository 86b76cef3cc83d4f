import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DomainsKey, SitesKey } from '../../../src/app/keys.ts';
import type { DashboardVisitor } from '../../support/dashboard/visitor.ts';
import { heavyFacts } from '../../support/dashboard/heavy-facts.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../../support/sites/deploy-entries.ts';
import { entry } from '../../support/sites/site-source.ts';
import { until } from '../../support/until.ts';

let dashboard: RunningDashboard;
let owner: Owner;
let path: string;
let change: () => Promise<unknown>;
const sockets: Socket[] = [];
beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner();
  const sites = dashboard.container.get(SitesKey);
  const domains = dashboard.container.get(DomainsKey);
  const project = await sites.startProject(owner.accountId, 'Birds');
  await deployEntries(dashboard.container, project, entry('index.html'));
  const domain = await domains.addDomain(project, 'shop.birds.test');
  path = `/dashboard/projects/${project.slug}/settings/domains/${domain.host}`;
  dashboard.dns.tell(domain.host, heavyFacts('&'), { '192.0.2.2': heavyFacts('"') });
  change = async () => {
    dashboard.clock.advance(10_000);
    await domains.verifyDomain(domain);
    await sites.startProject(owner.accountId, 'Another');
  };
  for (let n = 0; n < 20; n++) await change();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await dashboard.close();
});

/** Reads all that comes as it comes, and keeps only what it counts. */
const watch = (visitor: DashboardVisitor): { pages: number } => {
  const { hostname, port } = new URL(dashboard.origin);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nCookie: ${visitor.cookie!}\r\n\r\n`,
  );
  const seen = { pages: 0 };
  socket.on('data', (chunk) => {
    seen.pages += chunk.includes('event: page') ? 1 : 0;
  });
  return seen;
};

test('forty-eight streams of the largest page leave the process time for others', async () => {
  const visitors = await Promise.all(
    Array.from({ length: 5 }, () => dashboard.signIn(owner.email)),
  );
  const all = Array.from({ length: 48 }, (_, n) => watch(visitors[n % 5]!));
  await until('everybody has seen it', () => all.every(({ pages }) => pages > 0));
  const before = process.cpuUsage();
  for (let n = 1; n <= 5; n++) {
    await change();
    await until('everybody has seen the change', () => all.every(({ pages }) => pages > n));
    expect((await fetch(`${dashboard.origin}/healthz`)).status).toBe(200);
  }
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(15);
});

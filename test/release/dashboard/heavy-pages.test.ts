import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DomainsKey, SitesKey } from '../../../src/app/keys.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { elementsIn } from '../../support/dashboard/markup.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../../support/dashboard/running-dashboard.ts';
import type { DashboardVisitor } from '../../support/dashboard/visitor.ts';
import { facts, records } from '../../support/domains/known-dns.ts';
import { deployEntries } from '../../support/sites/deploy-entries.ts';
import { entry } from '../../support/sites/sites.ts';
import { until } from '../../support/until.ts';

const many = <Item>(count: number, make: (n: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** The largest facts that an adapter accepts. @param letter fills the texts */
const heavyFacts = (letter: string): Omit<ResolverFacts, 'resolver'> => {
  const text = letter.repeat(60_000);
  const caa = many(60, () => ({ flags: 0, tag: 'issue', value: letter.repeat(1000) }));
  return facts({
    a: records(...many(1000, (n) => `198.51.100.${n % 250}`)),
    aaaa: records(...many(1000, (n) => `2001:db8::${n.toString(16)}`)),
    txt: records(text, ...many(40, (n) => `${letter}${n}`)),
    sibling: records(...many(1000, (n) => `198.51.100.${n % 250}`)),
    caa: [{ name: 'birds.test', answer: records(...caa) }],
  });
};

let dashboard: RunningDashboard;
let owner: Owner;
/** A domain that was checked 25 times, each time with the largest answers. */
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
  const [first, second, third] = [heavyFacts('&'), heavyFacts('"'), heavyFacts('<')] as const;
  dashboard.dns.tell(domain.host, first, { '192.0.2.2': second, '192.0.2.3': third });
  change = async () => {
    dashboard.clock.advance(10_000);
    await domains.verifyDomain(domain);
    await sites.startProject(owner.accountId, 'Another');
  };
  for (let n = 0; n < 25; n++) await change();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await dashboard.close();
});

const kib = (text: string) => Math.round(Buffer.byteLength(text) / 1024);
const rawLinks = (text: string) =>
  elementsIn(text, 'a').flatMap((link) =>
    link.text === 'Raw answers' ? [link.attributes['href'] ?? ''] : [],
  );

test('a page of twenty checks with the most answers is less than 200 KiB', async () => {
  const { text } = await owner.visitor.get(path);
  expect(kib(text)).toBeLessThan(200);
  expect(
    elementsIn(text, 'li').filter(({ text: said }) => said.includes('DNS checked')),
  ).toHaveLength(20);
  expect(text).toContain('and 980 more');
});

test('answers that do not fit on a page continue on another page', async () => {
  const { text } = await owner.visitor.get(path);
  const links = rawLinks(text);
  expect(elementsIn(text, 'summary').filter((one) => one.text === 'Raw answers').length).toBe(
    20 - links.length,
  );
  const place = /before=(\d+)/.exec(links.at(-1) ?? '')?.[1] ?? '';
  const next = await owner.visitor.get(links.at(-1) ?? '');
  const [entries] = elementsIn(next.text, 'ol').slice(-1);
  expect(entries?.attributes['class']).toBe('stack timeline');
  const first = /id="entry-(\d+)"[\s\S]*?<summary>Raw answers/.exec(next.text);
  expect(Number(first?.[1]) + 1).toBe(Number(place));
});

/** Reads a stream as fast as it arrives, and only counts. */
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

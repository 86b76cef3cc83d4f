import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDns, type DnsServer } from '../lab/dns-server.ts';
import { crawl } from '../support/dashboard-crawl.ts';
import { signInFirst } from '../support/dashboard-process.ts';
import { DashboardVisitor } from '../support/dashboard-visitor.ts';
import { findFreePort } from '../support/debian-server.ts';
import {
  liftLimits,
  newHome,
  printedKey,
  type Home,
  type Service,
} from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { zipOf } from '../support/zip-bytes.ts';
import type { Known } from './any-case.ts';
import { Chance } from './chance.ts';
import type { Port } from './fuzz-case.ts';
import { mangledAnswer } from './mangled-answer.ts';

/** The real service on loopback, somebody who attacks it from an account, and somebody else whose data nobody may see. */
export interface FuzzField {
  readonly service: Service;
  readonly known: Known;
  readonly ports: Readonly<Record<Port, number>>;
  /** Who attacks, signed in. */
  readonly visitor: DashboardVisitor;
  /** Texts that stand in no answer and in no line of the log. */
  readonly secrets: readonly string[];
  /** Texts that stand in no answer: secrets, and what only the other account has. */
  readonly unseen: readonly string[];
  /** Puts what only this service knows in place of `{{name}}`. */
  readonly fill: (text: string) => string;
  readonly hostOf: (domain: number) => string;
  /** From now on resolvers answer questions about that domain by chance. */
  readonly mangle: (domain: number, seed: number) => void;
  /** How many mangled answers were given. */
  readonly answersGiven: () => number;
  close(): Promise<void>;
}

const canary = 'zanzibar-canary-4711';
const secretKey = 'a secret key that only the fuzz has';
const once = () => `form_${crypto.randomUUID().replaceAll('-', '')}`;
const hostOf = (domain: number): string => `www.shop-${String(domain)}.test`;

export const openFuzzField = async (domains: number): Promise<FuzzField> => {
  const dns = await startDns();
  const home = await newHome('sqlite');
  const ports = {
    service: Number(home.settings['PORT']),
    edge: await findFreePort(),
    'secure edge': await findFreePort(),
  };
  const service = await home.start({
    EDGE_HTTP_PORT: String(ports.edge),
    EDGE_HTTPS_PORT: String(ports['secure edge']),
    ALLOW_TEST_DOMAINS: '1',
    DNS_SERVERS: dns.servers.join(','),
    SECRET_KEY: secretKey,
    TRUST_PROXY: '1',
  });
  const key = printedKey(service);
  const visitor = await signInFirst(service);
  await liftLimits(home, service);
  const other = await openOther(home, service);
  await furnish(visitor, domains);
  const cursor = await cursorFor(service, key);
  const values: Readonly<Record<string, string>> = {
    ...{ key, cursor, cookie: visitor.cookie ?? '', slug: 'birds' },
    ...{ host: new URL(service.origin).host, site: 'birds.sites.animal-store.test' },
  };
  const secrets = [secretKey, other, key];
  const mangling = mangleAnswers(dns);
  const ids = new Map<string, string>();
  const pages = await knownPages(visitor, ids);
  await until('the site is served', async () => {
    const root = await readFile(
      join(home.settings['DATA_DIR'] ?? '', 'local-ca.pem'),
      'utf8',
    ).catch(() => '');
    return root !== '';
  });
  return {
    ...{ service, visitor, ports, hostOf, known: { pages, domains } },
    secrets,
    unseen: [...secrets, canary, home.settings['DATA_DIR'] ?? ''],
    fill: (text) =>
      text
        .replace(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole)
        .replace(/[a-z]{1,9}_z{20,}\d+/g, (token) => ids.get(token) ?? token),
    ...mangling,
    close: async () => {
      await service.end('SIGTERM');
      await home.remove();
      await dns.close();
    },
  };
};

/** Somebody whose things all carry the canary. @returns the secret of the key */
const openOther = async (home: Home, { origin }: Service): Promise<string> => {
  const args = ['account', 'create', '--name', canary, '--email', `${canary}@zoo.example`];
  const { stdout, stderr } = await home.run([...args, '--plan', 'pro', '--json']);
  if (stdout === '') throw new Error(stderr);
  const { key, signInUrl } = JSON.parse(stdout) as { key: { secret: string }; signInUrl: string };
  const visitor = new DashboardVisitor(origin);
  await visitor.get(new URL(signInUrl).pathname);
  await visitor.post('/dashboard', { name: canary, once: once() });
  const domainsOf = `/dashboard/projects/${canary}/settings/domains`;
  await visitor.post(domainsOf, { domain: `${canary}.test`, once: once() });
  for (const name of [canary, `${canary} 2`]) {
    await visitor.post('/dashboard/animals', {
      ...{ name, categoryId: '1', status: 'available', once: once() },
    });
  }
  return key.secret;
};

const furnish = async (visitor: DashboardVisitor, domains: number): Promise<void> => {
  await visitor.post('/dashboard', { name: 'Birds', once: once() });
  const form = new FormData();
  const archive = zipOf([{ name: 'index.html', content: '<h1>Birds</h1>'.repeat(1000) }]);
  form.set('archive', new Blob([new Uint8Array(archive)]), 'a.zip');
  await visitor.send('/dashboard/projects/birds/deploys', {
    ...{ method: 'POST', body: form, headers: { 'Sec-Fetch-Site': 'same-origin' } },
  });
  for (const name of ['Rex', 'Max', 'Tom']) {
    const animal = { name, categoryId: '1', status: 'available', once: once() };
    await visitor.post('/dashboard/animals', animal);
  }
  await visitor.post('/dashboard/animals/1/sell');
  for (let domain = 0; domain < domains; domain++) {
    const { status, text } = await visitor.post('/dashboard/projects/birds/settings/domains', {
      ...{ domain: hostOf(domain), once: once() },
    });
    if (status !== 303) throw new Error(`adding a domain was answered ${status}:\n${text}`);
  }
};

const cursorFor = async ({ origin }: Service, key: string): Promise<string> => {
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await fetch(`${origin}/v1/pets?limit=1`, { headers });
  await answer.arrayBuffer();
  const [, cursor] = /cursor=([^&>]+)/.exec(answer.headers.get('Link') ?? '') ?? [];
  if (cursor === undefined) throw new Error('the list of animals has no second page');
  return cursor;
};

/**
 * Pages and forms by what they are, so that one seed chooses the same of them again: in place of each id stands a token
 * that is as long.
 */
const knownPages = async (visitor: DashboardVisitor, ids: Map<string, string>) => {
  const { pages, forms } = await crawl(visitor);
  const named = (text: string): string =>
    text.replace(/([a-z]+)_[0-9a-f]{32}/g, (id, kind: string) => {
      const known = [...ids].find(([, value]) => value === id)?.[0];
      const token = known ?? `${kind}_${String(ids.size).padStart(32, 'z')}`;
      ids.set(token, id);
      return token;
    });
  const posts = forms.filter(({ method }) => method === 'POST');
  return {
    paths: [...pages.keys()].map(named).toSorted(),
    forms: posts
      .map(({ method, action, fields }) => ({
        ...{ method, action: named(action) },
        fields: Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [name, named(value)]),
        ),
      }))
      .toSorted((a, b) => a.action.localeCompare(b.action)),
  };
};

const mangleAnswers = (dns: DnsServer) => {
  const seeds = new Map<string, number>();
  let given = 0;
  const raw = (query: Buffer, transport: 'udp' | 'tcp'): Buffer | undefined => {
    const [label = ''] = /shop-\d+/i.exec(query.toString('latin1')) ?? [];
    const seed = seeds.get(label.toLowerCase());
    given += 1;
    return mangledAnswer(query, transport, new Chance(seed ?? 0, numberOf(query, transport)));
  };
  dns.setFaults({ '*': { raw } });
  return {
    mangle: (domain: number, seed: number) => void seeds.set(`shop-${String(domain)}`, seed),
    answersGiven: () => given,
  };
};

/** The same for the same question, whatever its id. */
const numberOf = (query: Buffer, transport: string): number =>
  [...query.subarray(2), transport.length].reduce(
    (sum, byte) => (Math.imul(sum, 31) + byte) | 0,
    7,
  );

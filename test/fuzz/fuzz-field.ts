import {
  addDomain,
  invite,
  once,
  openGround,
  siteHost,
  startProject,
  upload,
  type Customer,
  type Ground,
} from '../attacks/ground.ts';
import type { DnsServer } from '../lab/dns/server.ts';
import { crawl } from '../support/dashboard/crawl.ts';
import type { DashboardVisitor, PageAnswer } from '../support/dashboard/visitor.ts';
import type { Service } from '../support/service/service-process.ts';
import { zipOf } from '../support/sites/archive-bytes.ts';
import type { Known } from './any-case.ts';
import { Chance } from './hostile-text.ts';
import { attackers, type Port } from './fuzz-case.ts';
import { mangledAnswer } from './mangled-answer.ts';

/** The real service on loopback, an attacking account, and another account whose data must stay hidden. */
export interface FuzzField {
  readonly service: Service;
  readonly known: Known;
  readonly ports: Readonly<Record<Port, number>>;
  readonly visitor: DashboardVisitor;
  /**
   * Read the results of attacks. There are several people, because each may send a limited number of forms
   * a minute.
   */
  readonly judges: readonly DashboardVisitor[];
  /** Texts that no answer and no log line may contain. */
  readonly secrets: readonly string[];
  /** Texts that no answer may contain: secrets, and data of the other account. */
  readonly unseen: readonly string[];
  /** Replaces `{{name}}` with values of this service. */
  readonly fill: (text: string) => string;
  readonly hostOf: (domain: number) => string;
  /** From now on resolvers answer queries about that domain randomly. */
  readonly mangle: (domain: number, seed: number) => void;
  readonly answersGiven: () => number;
  close(): Promise<void>;
}

const judgesAtWork = 8;
const canary = 'zanzibar-canary-4711';
const slug = 'birds';
const hostOf = (domain: number): string => `www.shop-${String(domain)}.test`;

export const openFuzzField = async (domains: number): Promise<FuzzField> => {
  const ground = await openGround();
  const { service, ports, attacker } = ground;
  const { visitor, key } = attacker;
  const other = await openOther(ground);
  await furnish(visitor, domains);
  const cookies = await cookiesOf(visitor);
  const judges = await invited(visitor, 'judge', judgesAtWork);
  const cursor = await cursorFor(service, key);
  const values: Readonly<Record<string, string>> = {
    key,
    cursor,
    slug,
    ...cookies,
    host: new URL(service.origin).host,
    site: siteHost(slug),
  };
  const secrets = [ground.secretKey, other.key, key];
  const ids = new Map<string, string>();
  const pages = await knownPages(visitor, ids);
  return {
    service,
    visitor,
    judges,
    ports,
    hostOf,
    secrets,
    known: { pages, domains },
    unseen: [...secrets, canary, ground.dataDir],
    fill: (text) =>
      text
        .replace(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole)
        .replace(/[a-z]{1,9}_z{20,}\d+/g, (token) => ids.get(token) ?? token),
    ...mangleAnswers(ground.dns),
    close: () => ground.close(),
  };
};

const openOther = async (ground: Ground): Promise<Customer> => {
  const other = await ground.openAccount(canary);
  await startProject(other.visitor, canary);
  await addDomain(other.visitor, canary, `${canary}.test`);
  await addAnimal(other.visitor, canary);
  await addAnimal(other.visitor, `${canary} 2`);
  return other;
};

const addAnimal = (visitor: DashboardVisitor, name: string): Promise<PageAnswer> =>
  visitor.post('/dashboard/animals', { name, categoryId: '1', status: 'available', once: once() });

const furnish = async (visitor: DashboardVisitor, domains: number): Promise<void> => {
  await startProject(visitor, 'Birds');
  await upload(visitor, slug, zipOf([{ name: 'index.html', content: '<h1>Birds</h1>' }]));
  for (const name of ['Rex', 'Max', 'Tom']) await addAnimal(visitor, name);
  await visitor.post('/dashboard/animals/1/sell');
  for (let domain = 0; domain < domains; domain++) {
    const { status, text } = await addDomain(visitor, slug, hostOf(domain));
    if (status !== 303) throw new Error(`adding a domain was answered ${String(status)}:\n${text}`);
  }
};

const invited = async (
  by: DashboardVisitor,
  name: string,
  count: number,
): Promise<readonly DashboardVisitor[]> => {
  const all = [];
  for (let at = 1; at <= count; at++) {
    all.push(await invite(by, `${name}-${String(at)}@zoo.example`));
  }
  return all;
};

const cookiesOf = async (first: DashboardVisitor): Promise<Readonly<Record<string, string>>> => {
  const all = [first, ...(await invited(first, 'attacker', attackers - 1))];
  return Object.fromEntries(all.map(({ cookie = '' }, at) => [`cookie${String(at)}`, cookie]));
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
 * Pages and forms with tokens of equal length in place of ids, so that one seed chooses the same ones
 * again.
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
        method,
        action: named(action),
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

const numberOf = (query: Buffer, transport: string): number =>
  [...query.subarray(2), transport.length].reduce(
    (sum, byte) => (Math.imul(sum, 31) + byte) | 0,
    7,
  );

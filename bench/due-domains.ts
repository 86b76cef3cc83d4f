import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { customDomainRow } from '../src/adapters/kysely/sites/custom-domain-rows.ts';
import { Database } from '../src/adapters/kysely/database.ts';
import { loadConfig } from '../src/app/settings/config.ts';
import { openContainer } from '../src/app/container.ts';
import { Ids } from '../src/kernel/ports.ts';
import { addDomain } from '../src/domains/domain/attachment/custom-domain.ts';
import { createProject } from '../src/sites/domain/project.ts';
import { Projects } from '../src/sites/ports.ts';
import {
  loadCore,
  startPinned,
  startService,
  type PinnedProgram,
  cpuSecondsOf,
  megabytesOf,
  startAsking,
} from './programs.ts';
import { atMost, target, type Report } from './report.ts';
import { animals, storeWithAnimals } from './store.ts';

const atOnce = 500;
const hour = 3_600_000;
const allowance = { plan: 'Bench', hasWildcards: false };
const facts = {
  hasSucceededDeploy: true,
  provenElsewhere: undefined,
  attachedTo: undefined,
  current: 0,
  addedLately: [],
};

interface DueDomains {
  readonly accountId: string;
  readonly count: number;
  readonly dueAt: Date;
  /** Slug of the project. Its domains are `www.shop-0.<slug>.example` and so on. */
  readonly slug?: string;
}

/** Adds domains to one project, backdated so that all of them are due at the same moment. */
export const seedDomains = async (
  environment: Readonly<Record<string, string>>,
  { accountId, count, dueAt, slug = 'shops' }: DueDomains,
): Promise<void> => {
  const registrableDomain = `${slug}.example`;
  const container = await openContainer(loadConfig(environment), pino({ level: 'silent' }));
  try {
    const [ids, database] = [container.get(Ids), container.get(Database)];
    // Backdated so far that the check after the measured one is an hour away.
    const moment = { now: new Date(dueAt.getTime() - 12 * hour), jitter: 0 };
    const draft = { id: ids.next('proj'), accountId, name: slug, slug };
    await container.get(Projects).add(draft.accountId, () => createProject(draft, moment.now));
    const dueDomain = (number: number) => {
      const host = `www.shop-${String(number)}.${registrableDomain}`;
      const hostname = {
        host,
        unicode: host,
        labels: `www.shop-${String(number)}`,
        registrableDomain,
        isApex: false,
      };
      const [id, token] = [ids.next('dom'), `token-${slug}-${String(number)}`];
      const added = addDomain(
        { id, accountId, projectId: draft.id, token, hostname },
        { ...facts, allowance: { ...allowance, domains: count, domainsAddedPerHour: count } },
        moment,
      ).state;
      return customDomainRow({ ...added, dns: { ...added.dns, nextCheckAt: dueAt } });
    };
    for (let first = 0; first < count; first += atOnce) {
      const rows = Array.from({ length: Math.min(atOnce, count - first) }, (_, n) =>
        dueDomain(first + n),
      );
      await database.transaction((db) => db.insertInto('domains').values(rows).execute());
    }
  } finally {
    await container.unbindAllAsync();
  }
};

/** Counts the domains that were not checked since. */
const unchecked = async (database: Database, dueAt: Date): Promise<number> => {
  const { left } = await database.run((db) =>
    db
      .selectFrom('domains')
      .select((eb) => eb.fn.countAll<bigint>().as('left'))
      .where('due_at', '<=', BigInt(dueAt.getTime()))
      .executeTakeFirstOrThrow(),
  );
  return Number(left);
};

const count = 10_000;
const wantedSeconds = 60;
const wantedMs = 50;
const mostSeconds = 75;
const requestsPerSecond = 50;
/** Lets the server start and answer a few requests. */
const warmUpMs = 6_000;

/** Points elsewhere, so that every check fails and no domain is verified. */
const zone = {
  '*.shops.example': { A: ['203.0.113.9'] },
  'shops.example': { NS: ['ns.shops.example'] },
};

/**
 * Runs one process with the roles API and worker on one core, with 10 000 domains due at the same moment. Measures how
 * long it takes until three resolvers have checked each domain, and how long a request takes meanwhile.
 */
export const dueDomainsBench = async (folder: string): Promise<Report> => {
  const url = `sqlite:${join(folder, 'due-domains.db')}`;
  const dns = startPinned(loadCore, [
    process.execPath,
    'bench/dns-answers.ts',
    JSON.stringify(zone),
  ]);
  const settings = {
    DATABASE_URL: url,
    DATA_DIR: join(folder, 'due-domains'),
    DNS_SERVERS: await addressesOf(dns),
    ROLES: 'api,worker',
  };
  const { accountId, secret } = await storeWithAnimals(settings);
  const dueAt = new Date(Date.now() + warmUpMs);
  await seedDomains(settings, { accountId, count, dueAt });
  const server = await startService(settings);
  const question = {
    url: `${server.origin}/v1/pets?limit=20`,
    everyMs: 1000 / requestsPerSecond,
    key: secret,
  };
  await startAsking(question, 1_000).waits;

  await delay(dueAt.getTime() - Date.now());
  const [begin, cpuBefore] = [performance.now(), cpuSecondsOf(server.pid)];
  const load = startAsking(question, mostSeconds * 1000);
  const left = await untilChecked(url, dueAt);
  const seconds = (performance.now() - begin) / 1000;
  load.stop();
  const waits = await load.waits;
  const cpuUs = ((cpuSecondsOf(server.pid) - cpuBefore) / (count - left)) * 1e6;
  return {
    heading: `${String(count)} due domains, three resolvers, API and worker on one core, ${String(animals)} animals, SQLite`,
    lines: [
      `${String(count - left)} checked in ${seconds.toFixed(0)} s`,
      `${cpuUs.toFixed(0)} µs of the processor for each, ${megabytesOf(server.pid).toFixed(0)} MB at the end`,
      `GET /v1/pets?limit=20 meanwhile, ${String(requestsPerSecond)} a second: median ${waits.median.toFixed(1)} ms`,
    ],
    targets: [
      target(
        '10 000 due domains checked, at this rate',
        (seconds * count) / (count - left),
        atMost(wantedSeconds, 's'),
      ),
      target('list while domains are checked, p99', waits.p99, atMost(wantedMs, 'ms')),
    ],
  };
};

const addressesOf = async (dns: PinnedProgram): Promise<string> => {
  for (let tries = 0; tries < 200; tries++) {
    const [servers, rest] = dns.stderr().split('\n');
    if (servers !== undefined && rest !== undefined) return servers;
    await delay(50);
  }
  throw new Error(`the resolvers do not start: ${dns.stderr()}`);
};

/** @returns how many are left at the deadline */
const untilChecked = async (url: string, dueAt: Date): Promise<number> => {
  const database = new Database(url);
  try {
    const end = performance.now() + mostSeconds * 1000;
    for (;;) {
      const left = await unchecked(database, dueAt);
      if (left === 0 || performance.now() > end) return left;
      await delay(250);
    }
  } finally {
    await database.close();
  }
};

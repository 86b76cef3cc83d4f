import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../src/adapters/kysely/database.ts';
import { seedDomains, unchecked } from './custom-domains.ts';
import { loadCore, startPinned, startService, type PinnedProgram } from './programs.ts';
import { atMost, target, type Report } from './report.ts';
import { cpuSecondsOf, megabytesOf } from './server-usage.ts';
import { animals, storeWithAnimals } from './store.ts';
import { startAsking } from './waits.ts';

const count = 10_000;
const wantedSeconds = 60;
const wantedMs = 50;
const mostSeconds = 75;
const requestsPerSecond = 50;
/** Time for the server to start and answer a few requests. */
const warmUpMs = 6_000;

/** Points elsewhere, so that every check finds something wrong and nothing is verified. */
const zone = {
  '*.shops.example': { A: ['203.0.113.9'] },
  'shops.example': { NS: ['ns.shops.example'] },
};

/**
 * One process that is API and worker, on one core, with 10 000 domains that are due at the same moment: how long
 * until each was checked by three resolvers, and how long a request takes meanwhile.
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

/** @returns how many are left when the time is over */
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

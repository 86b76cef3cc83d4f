import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseKind, TestDatabase } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { newHome, type Service, type Settings } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';
import { startCaGate, type CaGate } from './authority/ca-gate.ts';
import { startDns, type DnsServer } from './dns/server.ts';
import { DomainFacts } from './domain-facts.ts';
import { labIssuer } from './authority/pebble-lab.ts';
import { startPebble, type Pebble, authoritiesTls } from './authority/pebble.ts';
import { SecureVisitor } from './secure-visitor.ts';
import { Shop, type Run } from './shop.ts';
import { LabZone } from './dns/lab-zone.ts';

/** A service with its own DNS and authority, on loopback. */
export interface DomainLab {
  readonly zone: LabZone;
  /** From now on the name server at that port answers for these names. */
  readonly delegate: DnsServer['delegate'];
  readonly pebble: Pebble;
  readonly gate: CaGate;
  readonly httpsPort: number;
  readonly facts: DomainFacts;
  readonly run: Run;
  /** A folder for files of a test, removed with the lab. */
  readonly folder: string;
  /** With all roles by default. */
  start(settings?: Settings): Promise<Service>;
  /** An account with a site that contains its name. */
  openShop(name: string, plan?: string): Promise<Shop>;
  /** The first process by default, or the one at that port. */
  visitor(port?: number): Promise<SecureVisitor>;
  /** Waits until the first process, or the one with its ports, serves these hosts. */
  waitUntilServed(...hosts: readonly string[]): Promise<void>;
  /** Waits until the project has its own certificate, so that later orders are only for domains. */
  settle(...shops: readonly Shop[]): Promise<void>;
  close(): Promise<void>;
}

export const platformHost = 'sites.platform.test';

/** For a lab whose service answers DNS challenges in its own zone. */
export const newChallengeZone = async (): Promise<Settings> => ({
  ACME_DNS_ZONE: 'acme.platform.test',
  DNS_PORT: String(await findFreePort()),
});
const resolvers = 3;

export const openDomainLab = async (
  storage: DatabaseKind | TestDatabase,
  extra: Settings = {},
): Promise<DomainLab> => {
  const dns = await startDns({}, resolvers + 1);
  const zone = new LabZone(dns, resolvers);
  const { ACME_DNS_ZONE: challenges, DNS_PORT: port } = extra;
  if (challenges !== undefined) dns.delegate(challenges, Number(port));
  zone.set(`*.${platformHost}`, { A: ['127.0.0.1'] });
  const authorityDns = dns.servers[resolvers] ?? '';
  const httpPort = await findFreePort();
  const httpsPort = await findFreePort();
  const pebble = await startPebble({ dns: authorityDns, httpPort });
  const gate = await startCaGate({ pebble, issuer: labIssuer, dns: authorityDns });
  const home = await newHome(
    typeof storage === 'string' ? await migratedDatabase(storage) : storage,
  );
  const folder = await mkdtemp(join(tmpdir(), 'domain-lab-'));
  const settings: Settings = {
    NODE_ENV: 'production',
    SECRET_KEY: '5d1f0c7ab2e94836f7d0ce1b8a4592e3',
    ALLOW_TEST_DOMAINS: '1',
    PLATFORM_HOST: platformHost,
    DNS_SERVERS: dns.servers.slice(0, resolvers).join(','),
    ACME_DIRECTORY_URL: gate.directoryUrl,
    CAA_ISSUER: labIssuer,
    NODE_EXTRA_CA_CERTS: (await authoritiesTls()).file,
    EDGE_HTTP_PORT: String(httpPort),
    EDGE_HTTPS_PORT: String(httpsPort),
    VERIFIER_SCHEDULE: '* * * * * *',
    ...extra,
  };
  const run: Run = (args) => home.run(args, settings);
  const facts = new DomainFacts(home.settings['DATABASE_URL'] ?? '');
  const visitor = async (port = httpsPort) => new SecureVisitor(port, await pebble.root());
  const waitUntilServed = async (...hosts: readonly string[]): Promise<void> => {
    const comer = await visitor();
    for (const host of hosts) {
      const isServed = async () => (await comer.refusal(host)) === undefined;
      // An attempt that fails on a busy machine is retried within a minute.
      await until(`${host} is served`, isServed);
    }
  };
  return {
    delegate: (...given) => {
      dns.delegate(...given);
    },
    httpsPort,
    zone,
    pebble,
    gate,
    facts,
    run,
    folder,
    visitor,
    waitUntilServed,
    start: (its = {}) => home.start({ ...settings, ...its }),
    openShop: async (name, plan = 'business') => {
      const site = join(folder, name);
      await writeSite(site, name);
      return Shop.open(run, { name, plan, folder: site });
    },
    settle: (...shops) => waitUntilServed(...shops.map(({ slug }) => `${slug}.${platformHost}`)),
    close: async () => {
      await facts.close();
      await home.remove();
      gate.close();
      await pebble.stop();
      await dns.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const writeSite = async (folder: string, name: string): Promise<void> => {
  await mkdir(folder);
  await writeFile(join(folder, 'index.html'), `<h1>${name}</h1>\n`);
};

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseKind } from '../support/servers/databases.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { newHome, type Service, type Settings } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';
import { startCaGate, type CaGate } from './authority/ca-gate.ts';
import { startDns } from './dns/server.ts';
import { DomainFacts } from './domain-facts.ts';
import { LabZone } from './dns/lab-zone.ts';
import { labIssuer } from './authority/pebble-lab.ts';
import { startPebble, type Pebble, type PebbleOptions } from './authority/pebble.ts';
import { SecureVisitor } from './secure-visitor.ts';
import { Shop, type Run } from './shop.ts';

/** A service with DNS and an authority of its own, on loopback. */
export interface DomainLab {
  readonly zone: LabZone;
  readonly pebble: Pebble;
  readonly gate: CaGate;
  readonly facts: DomainFacts;
  readonly run: Run;
  /** See `Home.run`. */
  runAt(desk: number): Run;
  /** For files of a test; gone with the lab. */
  readonly folder: string;
  /** With all roles, unless told otherwise. */
  start(settings?: Settings): Promise<Service>;
  /** An account with a site that says its name. */
  openShop(name: string, plan?: string): Promise<Shop>;
  /** Of the first process, or the one at that port. */
  visitor(port?: number): Promise<SecureVisitor>;
  /** Waits until the first process, or the one that has its ports, serves these hosts. */
  waitUntilServed(...hosts: readonly string[]): Promise<void>;
  /** Waits until the project itself has its certificate: from then on the authority hears of domains only. */
  settle(...shops: readonly Shop[]): Promise<void>;
  close(): Promise<void>;
}

export const platformHost = 'sites.platform.test';
const resolvers = 3;

export const openDomainLab = async (
  storage: DatabaseKind,
  options: Omit<PebbleOptions, 'dns' | 'httpPort'> = {},
  extra: Settings = {},
): Promise<DomainLab> => {
  const dns = await startDns({}, resolvers + 1);
  const zone = new LabZone(dns, resolvers);
  zone.set(`*.${platformHost}`, { A: ['127.0.0.1'] });
  const authorityDns = dns.servers[resolvers] ?? '';
  const httpPort = await findFreePort();
  const httpsPort = await findFreePort();
  const pebble = await startPebble({ ...options, dns: authorityDns, httpPort });
  const gate = await startCaGate({ pebble, issuer: labIssuer, dns: authorityDns });
  const home = await newHome(storage);
  const folder = await mkdtemp(join(tmpdir(), 'domain-lab-'));
  const trusted = join(folder, 'gate.pem');
  await writeFile(trusted, pebble.tls.cert);
  const settings: Settings = {
    NODE_ENV: 'production',
    SECRET_KEY: '5d1f0c7ab2e94836f7d0ce1b8a4592e3',
    ALLOW_TEST_DOMAINS: '1',
    PLATFORM_HOST: platformHost,
    DNS_SERVERS: dns.servers.slice(0, resolvers).join(','),
    ACME_DIRECTORY_URL: gate.directoryUrl,
    CAA_ISSUER: labIssuer,
    NODE_EXTRA_CA_CERTS: trusted,
    EDGE_HTTP_PORT: String(httpPort),
    EDGE_HTTPS_PORT: String(httpsPort),
    VERIFIER_SCHEDULE: '* * * * * *',
    ...extra,
  };
  const runAt =
    (desk: number): Run =>
    (args) =>
      home.run(args, settings, desk);
  const run = runAt(0);
  const facts = new DomainFacts(home.settings['DATABASE_URL'] ?? '');
  const visitor = async (port = httpsPort) => new SecureVisitor(port, await pebble.root());
  const waitUntilServed = async (...hosts: readonly string[]): Promise<void> => {
    const comer = await visitor();
    for (const host of hosts) {
      const isServed = async () => (await comer.refusal(host)) === undefined;
      // What fails on a busy machine is tried again by the next minute.
      await until(`${host} is served`, isServed, 90_000);
    }
  };
  return {
    ...{ zone, pebble, gate, facts, run, runAt, folder, visitor, waitUntilServed },
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

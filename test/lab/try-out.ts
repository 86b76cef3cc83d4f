import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../support/servers/debian-server.ts';
import { newHome, type Service, type Settings } from '../support/service/service-process.ts';
import { startCaGate } from './authority/ca-gate.ts';
import { labIssuer, secondIssuer } from './authority/pebble-lab.ts';
import { startPebble } from './authority/pebble.ts';
import { startResolver } from './dns/resolver.ts';
import { startDns } from './dns/server.ts';
import { DomainFacts } from './domain-facts.ts';
import { platformHost } from './domain-lab.ts';
import { newFakeClock, type FakeClock } from './fake-clock.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';
import { saveRecords, startLabPage } from './lab-page.ts';
import { json, type Run, type ShownDomain } from './shop.ts';
import { LabZone } from './dns/lab-zone.ts';

/** Everything that a custom domain needs, on loopback, for a person with a browser. */
export interface TryOut {
  readonly service: Service;
  /** Signs in to the dashboard once. */
  readonly signInUrl: string;
  /** The page where records, authorities and the time of the service are changed. */
  readonly labUrl: string;
  /** The page that shows the service's mails. */
  readonly mailUrl: string;
  /** The mails, oldest first. */
  readonly mails: Mailbox['taken'];
  readonly run: Run;
  /** Does the same as the page for a zone file: replaces all records. @returns the errors */
  createRecords(zoneFile: string): readonly string[];
  readonly facts: DomainFacts;
  readonly clock: FakeClock;
  readonly edgePort: number;
  /** A file with the roots of both authorities. */
  readonly root: string;
  close(): Promise<void>;
}

const challengeZone = 'acme.platform.test';
const platformZone = {
  'platform.test': { SOA: [{ mname: 'ns.platform.test', rname: 'root.platform.test' }] },
  [`*.${platformHost}`]: { A: ['127.0.0.1'] },
};

/** Delegated names lead to the service itself, over the common resolver. */
const startNames = async () => {
  const names = await startDns(platformZone, 1);
  const [records = ''] = names.servers;
  const dnsPort = await findFreePort();
  const challenges = { zone: challengeZone, port: dnsPort };
  const resolver = await startResolver({ records, known: 'platform.test', challenges });
  return {
    zone: new LabZone(names, 0, platformZone),
    resolver,
    settings: {
      PLATFORM_HOST: platformHost,
      ACME_DNS_ZONE: challengeZone,
      DNS_PORT: String(dnsPort),
      DNS_SERVERS: resolver.servers.join(),
    },
    close: async () => {
      await resolver.stop();
      await names.close();
    },
  };
};

/** Both authorities, with files in that folder of the trusted roots. */
const startAuthorities = async (folder: string, place: { dns: string; httpPort: number }) => {
  const pebble = await startPebble(place);
  const gate = await startCaGate({ pebble, issuer: labIssuer, dns: place.dns });
  const second = await startPebble(place);
  const secondGate = await startCaGate({ pebble: second, issuer: secondIssuer, dns: place.dns });
  const [trusted, root] = [join(folder, 'gates.pem'), join(folder, 'root.pem')];
  await writeFile(trusted, `${pebble.tls.cert}\n${second.tls.cert}`);
  await writeFile(root, `${await pebble.root()}\n${await second.root()}`);
  const all = [
    { pebble, gate },
    { pebble: second, gate: secondGate },
  ];
  return {
    root,
    authorities: all.map((one) => ({ gate: one.gate, choice: 'works' as const })),
    settings: {
      ACME_DIRECTORY_URL: gate.directoryUrl,
      CAA_ISSUER: labIssuer,
      ACME_FALLBACK_DIRECTORY_URL: secondGate.directoryUrl,
      CAA_FALLBACK_ISSUER: secondIssuer,
      NODE_EXTRA_CA_CERTS: trusted,
    },
    close: async () => {
      for (const one of all) {
        one.gate.close();
        await one.pebble.stop();
      }
    },
  };
};

const domainsOf = (run: Run) => async (): Promise<readonly ShownDomain[]> => {
  const all = await json<readonly (ShownDomain & ShownDomain['domain'])[]>(run, ['domain', 'list']);
  return all.filter(({ state }) => state !== 'removed').map((one) => ({ ...one, domain: one }));
};

export const startTryOut = async (): Promise<TryOut> => {
  const folder = await mkdtemp(join(tmpdir(), 'try-out-'));
  const [httpPort, edgePort] = [await findFreePort(), await findFreePort()];
  const clock = await newFakeClock();
  const names = await startNames();
  const { zone, resolver } = names;
  const issuing = await startAuthorities(folder, { dns: resolver.servers[0], httpPort });
  const mailbox = await startMailbox();
  const home = await newHome('sqlite');
  const settings: Settings = {
    ...names.settings,
    ...issuing.settings,
    ...clock.settings,
    ALLOW_TEST_DOMAINS: '1',
    EDGE_HTTP_PORT: String(httpPort),
    EDGE_HTTPS_PORT: String(edgePort),
    SMTP_URL: mailbox.smtpUrl,
    MAIL_FROM: 'Animal Store <lab@platform.test>',
    LOG_LEVEL: 'warn',
  };
  const service = await home.start(settings);
  const facts = new DomainFacts(home.settings['DATABASE_URL'] ?? '');
  const [signInUrl = ''] = /http:\S+\/dashboard\/sign-in\/\S+/.exec(service.stdout()) ?? [];
  const run: Run = (args) => home.run(args, settings);
  await giveWildcards(run);
  const { authorities, root } = issuing;
  const page = await startLabPage({ zone, resolver, authorities, clock, domains: domainsOf(run) });
  return {
    service,
    signInUrl,
    labUrl: page.url,
    mailUrl: mailbox.url,
    edgePort,
    root,
    facts,
    clock,
    run,
    mails: mailbox.taken,
    createRecords: (zoneFile) => saveRecords({ zone }, zoneFile),
    close: async () => {
      await service.end('SIGTERM');
      await facts.close();
      await home.remove();
      page.close();
      for (const one of [issuing, names, mailbox]) await one.close();
      await clock.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** The first account gets a plan with custom domains. */
const giveWildcards = async (run: Run): Promise<void> => {
  const [first] = await json<readonly { id: string }[]>(run, ['account', 'list']);
  await json(run, ['account', 'set-plan', '--account', first?.id ?? '', '--plan', 'business']);
};

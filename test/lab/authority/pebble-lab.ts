import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  AcmeCertificateAuthority,
  type AcmeSettings,
} from '../../../src/adapters/acme/acme-certificate-authority.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';
import type { Clock } from '../../../src/kernel/ports.ts';
import type {
  AuthorityAccount,
  AuthorityAccounts,
} from '../../../src/domains/certificate-ports.ts';
import { startCaGate, type CaGate } from './ca-gate.ts';
import { startDns, type DnsServer } from '../dns/server.ts';
import { startPebble, type Pebble, type PebbleOptions } from './pebble.ts';

/** The web server of all hosts: answers HTTP-01 challenges (RFC 8555, section 8.3). */
interface ChallengeServer {
  readonly port: number;
  publish(token: string, keyAuthorization: string): void;
  close(): void;
}

const startChallengeServer = async (): Promise<ChallengeServer> => {
  const published = new Map<string, string>();
  const server = createServer(({ url = '' }, response) => {
    const answer = published.get(url.replace('/.well-known/acme-challenge/', ''));
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    publish: (token, keyAuthorization) => void published.set(token, keyAuthorization),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

interface Ports {
  readonly accounts?: AuthorityAccounts;
  readonly clock?: Clock;
}

/** For one process. The first saved account stays until the authority has lost it. */
export const keptAccounts = (): AuthorityAccounts => {
  const kept = new Map<string, AuthorityAccount>();
  const save = (directoryUrl: string, account: AuthorityAccount, lostUrl?: string) => {
    if (kept.get(directoryUrl)?.url === lostUrl) kept.set(directoryUrl, account);
    return Promise.resolve();
  };
  return { find: (directoryUrl) => Promise.resolve(kept.get(directoryUrl)), save };
};

/** A client of the lab's authority, with its own account by default. */
export const connectAuthority = (
  { gate, pebble, challenges }: PebbleServers,
  settings: Partial<AcmeSettings> = {},
  { accounts = keptAccounts(), clock = new SystemClock() }: Ports = {},
): {
  readonly authority: AcmeCertificateAuthority;
  readonly publish: (token: string, keyAuthorization: string) => void;
} => ({
  authority: new AcmeCertificateAuthority(
    {
      directoryUrl: gate.directoryUrl,
      issuers: [labIssuer],
      trustedCa: pebble.tls.cert,
      ...settings,
    },
    accounts,
    clock,
  ),
  publish: (token, keyAuthorization) => challenges.publish(token, keyAuthorization),
});

/** An authority with its resolver and the proxy in front of it. */
export interface PebbleServers {
  readonly pebble: Pebble;
  readonly gate: CaGate;
  readonly dns: DnsServer;
  readonly challenges: ChallengeServer;
}

/** On loopback. Hosts are names below `customer.test`. */
export interface PebbleLab extends PebbleServers {
  /** A host that was never used before. */
  newHost(): string;
  close(): Promise<void>;
}

/** The authority's name in CAA records. */
export const labIssuer = 'ca.lab.test';
export const secondIssuer = 'second.lab.test';

export const startPebbleLab = async (
  options: Omit<PebbleOptions, 'dns' | 'httpPort'> = {},
): Promise<PebbleLab> => {
  const dns = await startDns({ '*.customer.test': { A: ['127.0.0.1'] } }, 1);
  const [server = ''] = dns.servers;
  const challenges = await startChallengeServer();
  const pebble = await startPebble({ ...options, dns: server, httpPort: challenges.port });
  const gate = await startCaGate({ pebble, issuer: labIssuer, dns: server });
  let hosts = 0;
  return {
    pebble,
    gate,
    dns,
    challenges,
    newHost: () => `shop-${++hosts}.customer.test`,
    close: async () => {
      gate.close();
      challenges.close();
      await pebble.stop();
      await dns.close();
    },
  };
};

import { startCaGate, type CaGate } from './ca-gate.ts';
import { startDns, type DnsServer } from '../dns/server.ts';
import { startChallengeServer, type ChallengeServer } from './pebble-challenges.ts';
import { startPebble, type Pebble, type PebbleOptions } from './pebble.ts';

/** An authority with all that it needs, on loopback. Hosts are names below `customer.test`. */
export interface PebbleLab {
  readonly pebble: Pebble;
  readonly gate: CaGate;
  readonly dns: DnsServer;
  readonly challenges: ChallengeServer;
  /** A host that nobody used before. */
  newHost(): string;
  close(): Promise<void>;
}

/** Who the authority is in CAA records. */
export const labIssuer = 'ca.lab.test';

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

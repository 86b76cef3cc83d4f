import { describe } from '@jest/globals';
import { NodeDnsVerifier } from '../../../src/adapters/dns/node-dns-verifier.ts';
import { ScriptedDns, type KnownFacts } from '../../support/domains/scripted-dns.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { startDns } from '../../lab/dns/server.ts';
import type { Zone } from '../../lab/dns/zone.ts';
import { checkedAt, dnsVerifierContract, type PublishedHost } from './dns-verifier.contract.ts';

const clock = new SettableClock(checkedAt);

const zoneOf = ({ host, target, address, proof }: PublishedHost): Zone => ({
  [host]: { CNAME: [target] },
  [target]: { A: [address] },
  [`_animal-store-challenge.${host}`]: { TXT: [proof] },
});

const records = <Item>(...all: Item[]) => ({ kind: 'records', records: all, ttl: 60 }) as const;

const factsOf = ({ host, target, address, proof }: PublishedHost): KnownFacts => ({
  cname: records(target),
  chain: { names: [target], end: 'reached' },
  a: records(address),
  aaaa: { kind: 'none' },
  txt: records(proof),
  caa: [host, 'customer.test', 'test'].map((name) => ({ name, answer: { kind: 'none' } })),
});

describe('a DNS verifier over node:dns', () => {
  dnsVerifierContract(async () => {
    const dns = await startDns();
    return {
      verifier: new NodeDnsVerifier({ servers: dns.servers, clock, randomLabel: () => 'made-up' }),
      resolvers: dns.servers,
      publish: (host, last = host) => {
        dns.setZone(zoneOf(host));
        dns.views.at(-1)?.setZone(zoneOf(last));
      },
      close: () => dns.close(),
    };
  });
});

describe('a DNS verifier in memory', () => {
  dnsVerifierContract(() => {
    const resolvers = ['192.0.2.1', '192.0.2.2', '[2001:db8::3]:5353'];
    const verifier = new ScriptedDns(clock, resolvers);
    return Promise.resolve({
      verifier,
      resolvers,
      publish: (host, last = host) => {
        verifier.tell(host.host, factsOf(host), { [resolvers[2]!]: factsOf(last) });
      },
      close: () => Promise.resolve(),
    });
  });
});

import { afterAll, beforeAll, expect, test, describe } from '@jest/globals';
import { scribble } from '../../support/scribble.ts';
import { fixedTime, SettableClock } from '../../support/settable-clock.ts';
import { ScriptedDns, type KnownFacts } from '../../support/domains/scripted-dns.ts';
import { startDns } from '../../lab/dns/server.ts';
import type { Zone } from '../../lab/dns/zone.ts';
import type { DnsVerifier } from '../../../src/domains/ports.ts';
import { NodeDnsVerifier } from '../../../src/adapters/dns/node-dns-verifier.ts';

/** A host with a CNAME to `target`. */
interface PublishedHost {
  readonly host: string;
  readonly target: string;
  readonly address: string;
  /** TXT at `_animal-store-challenge.<host>`. */
  readonly proof: string;
}

interface AskedResolvers {
  readonly verifier: DnsVerifier;
  /** At least two, named as in the facts, in the order of the settings. */
  readonly resolvers: readonly string[];
  /** @param last replaces the records that the last resolver knows */
  publish(host: PublishedHost, last?: PublishedHost): void;
  close(): Promise<void>;
}

const checkedAt = fixedTime('2026-03-01T12:00:00Z');

const shop = {
  host: 'shop.customer.test',
  target: 'token.platform.test',
  address: '192.0.2.10',
  proof: 'animal-store-verify=token',
};
const absent = { kind: 'no_such_name' };
const only = (record: string): unknown =>
  expect.objectContaining({ kind: 'records', records: [record] });

/** @param open stops the clock at `checkedAt` */
const dnsVerifierContract = (open: () => Promise<AskedResolvers>): void => {
  let asked: AskedResolvers;
  beforeAll(async () => {
    asked = await open();
  });
  afterAll(() => asked.close());

  test('all resolvers see the published records, and are reported in order', async () => {
    asked.publish(shop);
    expect(await asked.verifier.inspect(shop.host)).toEqual({
      host: shop.host,
      checkedAt,
      resolvers: asked.resolvers.map((resolver) => ({
        resolver,
        tookMs: expect.any(Number),
        cname: only(shop.target),
        chain: { names: [shop.target], end: 'reached' },
        a: only(shop.address),
        aaaa: { kind: 'none' },
        txt: only(shop.proof),
        sibling: absent,
        isZoneApex: false,
        caa: [shop.host, 'customer.test', 'test'].map((name) => ({
          name,
          answer: { kind: 'none' },
        })),
      })),
    });
  });

  test('a resolver with different answers is reported separately', async () => {
    const old = { ...shop, target: 'old.elsewhere.test', address: '198.51.100.7' };
    asked.publish(shop, old);
    const { resolvers } = await asked.verifier.inspect(shop.host);
    const isLast = (index: number): boolean => index === asked.resolvers.length - 1;
    expect(resolvers.map(({ cname }) => cname)).toEqual(
      asked.resolvers.map((_, index) => only(isLast(index) ? old.target : shop.target)),
    );
    expect(resolvers.map(({ a }) => a)).toEqual(
      asked.resolvers.map((_, index) => only(isLast(index) ? old.address : shop.address)),
    );
  });

  test('a name that does not exist is absent at every level', async () => {
    const { resolvers } = await asked.verifier.inspect('shop.nobody.nowhere');
    expect(resolvers).toEqual(
      asked.resolvers.map((resolver) => ({
        resolver,
        tookMs: expect.any(Number),
        cname: absent,
        chain: { names: [], end: 'reached' },
        a: absent,
        aaaa: absent,
        txt: absent,
        sibling: absent,
        isZoneApex: false,
        caa: ['shop.nobody.nowhere', 'nobody.nowhere', 'nowhere'].map((name) => ({
          name,
          answer: absent,
        })),
      })),
    );
  });

  test('upper case and the final dot of the host make no difference', async () => {
    asked.publish(shop);
    const facts = await asked.verifier.inspect('SHOP.Customer.test.');
    expect(facts).toMatchObject({
      host: shop.host,
      resolvers: [{ a: only(shop.address) }, {}, {}],
    });
  });

  test.each(['', '.', 'a..b', `${'x'.repeat(64)}.test`, 'y.'.repeat(130), '*.a b', '\0.test'])(
    'an invalid host gets a report too: %j',
    async (host) => {
      const { resolvers } = await asked.verifier.inspect(host);
      expect(resolvers.map(({ resolver }) => resolver)).toEqual(asked.resolvers);
      for (const { a, chain } of resolvers) {
        expect(a.kind).not.toBe('records');
        expect(chain.names).toEqual([]);
      }
    },
  );

  test('a report does not change later reports when its caller changes it', async () => {
    asked.publish(shop);
    const facts = await asked.verifier.inspect(shop.host);
    const kept = structuredClone(facts).resolvers.map(({ cname, chain, a }) => [cname, chain, a]);
    scribble(facts);
    const again = await asked.verifier.inspect(shop.host);
    expect(again.resolvers.map(({ cname, chain, a }) => [cname, chain, a])).toEqual(kept);
    expect(again.checkedAt).toEqual(checkedAt);
  });
};

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

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { NodeDnsVerifier } from '../../../src/adapters/dns/node-dns-verifier.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { Dns } from './dns.ts';

const [first, second] = ['192.0.2.53', '192.0.2.54'] as const;
const host = 'shop.customer.example';
const target = 'sites.platform.example';
const none = { kind: 'none' };
const absent = { kind: 'no_such_name' };
const failed = (reason: string) => ({ kind: 'failed', reason });

let clock: SettableClock;
let dns: Dns;

beforeEach(() => {
  clock = new SettableClock(new Date('2026-03-01T10:00:00Z'));
  const now = () => clock.now().getTime();
  dns = new Dns({ now, suffixes: ['example'], resolvers: [first, second] });
  dns.zones.register('customer.example');
  dns.zones.register('platform.example');
  dns.zones.set(target, 'A', ['192.0.2.10'], 300);
  dns.zones.set(host, 'CNAME', [target], 600);
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const verifier = () =>
  new NodeDnsVerifier({
    servers: [first, second],
    clock,
    randomLabel: () => 'made-up',
    questionsTo: dns.questionsTo,
  });

const inspect = async (name = host): Promise<readonly [ResolverFacts, ResolverFacts]> => {
  const { resolvers } = await verifier().inspect(name);
  return [resolvers[0]!, resolvers[1]!];
};

const change = (address: string) => {
  dns.zones.set(target, 'A', [address], 300);
};
const addresses = async (place: string) => {
  const reply = await dns.lookup(place, host, 'A');
  return reply.kind === 'records' ? reply.records : [];
};

test('the real verifier finds all facts about a host at each resolver, and uses only one timer, the deadline', async () => {
  dns.zones.set('_animal-store-challenge.shop.customer.example', 'TXT', ['proof'], 60);
  const timer = jest.spyOn(globalThis, 'setTimeout');
  const [facts, other] = await inspect();
  expect(timer.mock.calls.map(([, ms]) => ms)).toEqual([10_000, 10_000]);
  expect(facts).toMatchObject({
    cname: { records: [target], ttl: undefined },
    chain: { names: [target], end: 'reached' },
    a: { records: ['192.0.2.10'], ttl: 300 },
    aaaa: none,
    txt: { records: ['proof'] },
    sibling: absent,
    isZoneApex: false,
    zone: {
      name: 'customer.example',
      nameServers: ['ns1.customer.example', 'ns2.customer.example'],
    },
    caa: [
      { name: host, answer: none },
      { name: 'customer.example', answer: none },
      { name: 'example', answer: { ...none, isAuthentic: true } },
    ],
  });
  expect({ ...other, resolver: first, tookMs: 0 }).toEqual({ ...facts, tookMs: 0 });
});

test('each resolver caches an answer for its TTL from its own query on', async () => {
  expect(await addresses(first)).toEqual(['192.0.2.10']);
  clock.advance(200_000);
  change('192.0.2.20');
  expect(await addresses(first)).toEqual(['192.0.2.10']);
  expect(await addresses(second)).toEqual(['192.0.2.20']);
  expect(await dns.lookup(first, host, 'A')).toMatchObject({ ttl: 100 });
  clock.advance(100_000);
  expect(await addresses(first)).toEqual(['192.0.2.20']);
});

test('a missing name is cached as long as the SOA record of its zone says', async () => {
  const later = 'later.customer.example';
  expect(await dns.lookup(first, later, 'TXT')).toMatchObject(absent);
  dns.zones.set(later, 'A', ['192.0.2.30'], 60);
  expect(await dns.lookup(first, later, 'A')).toMatchObject(absent);
  clock.advance(300_000);
  expect(await dns.lookup(first, later, 'A')).toMatchObject({ records: ['192.0.2.30'] });
  expect(await dns.lookup(first, later, 'TXT')).toMatchObject({ ...none, ttl: 300 });
});

test('a CNAME beside other records or at an apex is refused, and so are invalid names and data', () => {
  const { zones } = dns;
  const refusals = [
    () => {
      zones.set(target, 'CNAME', [host], 60);
    },
    () => {
      zones.set(host, 'TXT', ['text'], 60);
    },
    () => {
      zones.set('customer.example', 'CNAME', [target], 60);
    },
    () => {
      zones.set('not a name.customer.example', 'A', ['192.0.2.1'], 60);
    },
    () => {
      zones.set('a.customer.example', 'A', ['2001:db8::1'], 60);
    },
    () => {
      zones.set('a.customer.example', 'NS', ['ns.customer.example'], 60);
    },
    () => {
      zones.set('customer.unknown', 'A', ['192.0.2.1'], 60);
    },
    () => {
      zones.register('customer.example');
    },
  ];
  for (const refusal of refusals) expect(refusal).toThrow(/^refused: /);
  expect(zones.find(host, 'CNAME')).toMatchObject({ records: [target] });
});

test('a wildcard matches names that do not exist, but no name below an existing one', async () => {
  dns.zones.set('*.customer.example', 'A', ['192.0.2.40'], 60);
  expect(await dns.lookup(first, 'made.up.customer.example', 'A')).toMatchObject({
    records: ['192.0.2.40'],
  });
  expect(await dns.lookup(first, `below.${host}`, 'A')).toMatchObject(absent);
});

test('a zone that fails DNSSEC is answered only to queries without checking', async () => {
  dns.weather.zone('customer.example', { kind: 'bogus' });
  const [facts] = await inspect();
  expect(facts).toMatchObject({
    cname: failed('servfail'),
    unchecked: { question: `CNAME ${host}`, errors: [{ code: 9 }] },
  });
});

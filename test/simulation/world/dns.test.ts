import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { NodeDnsVerifier } from '../../../src/adapters/dns/node-dns-verifier.ts';
import type { DnsFacts, ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { holdTimeouts } from '../../support/held-timeouts.ts';
import { firstValue, newResponder, tokenOf } from '../../support/nameserver/known-zone.ts';
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

/** An inspection that takes its time. */
const inspectFor = async (ms: number): Promise<DnsFacts> => {
  const inspection = verifier().inspect(host);
  await jest.advanceTimersByTimeAsync(ms);
  return inspection;
};

const change = (address: string) => {
  dns.zones.set(target, 'A', [address], 300);
};
const addresses = async (place: string) => {
  const reply = await dns.lookup(place, host, 'A');
  return reply.kind === 'records' ? reply.records : [];
};

test('the real verifier finds all facts about a host at each resolver, with no timer but the end of a look', async () => {
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

test('each resolver keeps an answer for its TTL from when it asked', async () => {
  expect(await addresses(first)).toEqual(['192.0.2.10']);
  clock.advance(200_000);
  change('192.0.2.20');
  expect(await addresses(first)).toEqual(['192.0.2.10']);
  expect(await addresses(second)).toEqual(['192.0.2.20']);
  expect(await dns.lookup(first, host, 'A')).toMatchObject({ ttl: 100 });
  clock.advance(100_000);
  expect(await addresses(first)).toEqual(['192.0.2.20']);
});

test('from other vantage points an answer is kept for a minute', async () => {
  expect(await addresses('authority')).toEqual(['192.0.2.10']);
  change('192.0.2.20');
  clock.advance(59_999);
  expect(await addresses('authority')).toEqual(['192.0.2.10']);
  clock.advance(1);
  expect(await addresses('authority')).toEqual(['192.0.2.20']);
});

test('a missing name is remembered as long as the SOA record of its zone says', async () => {
  const later = 'later.customer.example';
  expect(await dns.lookup(first, later, 'TXT')).toMatchObject(absent);
  dns.zones.set(later, 'A', ['192.0.2.30'], 60);
  expect(await dns.lookup(first, later, 'A')).toMatchObject(absent);
  clock.advance(300_000);
  expect(await dns.lookup(first, later, 'A')).toMatchObject({ records: ['192.0.2.30'] });
  expect(await dns.lookup(first, later, 'TXT')).toMatchObject({ ...none, ttl: 300 });
});

test('a CNAME beside other records, at an apex, and bad names and data are refused', () => {
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

test('a wildcard stands for names that do not exist, and for nothing below those that do', async () => {
  dns.zones.set('*.customer.example', 'A', ['192.0.2.40'], 60);
  expect(await dns.lookup(first, 'made.up.customer.example', 'A')).toMatchObject({
    records: ['192.0.2.40'],
  });
  expect(await dns.lookup(first, `below.${host}`, 'A')).toMatchObject(absent);
});

test('the names of a registration that ended do not exist', async () => {
  dns.zones.drop('customer.example');
  expect(await dns.lookup(first, host, 'A')).toMatchObject(absent);
  const edit = () => {
    dns.zones.set(host, 'CNAME', [target], 60);
  };
  expect(edit).toThrow(/is not registered/);
  dns.zones.register('customer.example');
  edit();
  expect(await dns.lookup(second, host, 'A')).toMatchObject({ records: ['192.0.2.10'] });
});

test('a silent resolver leads to timeouts after all tries, and the other one is not held up', async () => {
  holdTimeouts();
  dns.weather.resolver(first, { kind: 'silent' });
  const [silent, well] = (await inspectFor(4_000)).resolvers;
  expect(silent).toMatchObject({
    tookMs: 4_000,
    cname: failed('timeout'),
    a: failed('timeout'),
    chain: { end: 'failed' },
  });
  expect(well).toMatchObject({ tookMs: 0, a: { records: ['192.0.2.10'] } });
});

test('a resolver that speaks again is heard at the second try', async () => {
  holdTimeouts();
  dns.weather.resolver(first, { kind: 'silent' });
  const inspection = verifier().inspect(host);
  await jest.advanceTimersByTimeAsync(1_000);
  dns.weather.resolver(first, undefined);
  await jest.advanceTimersByTimeAsync(1_000);
  expect((await inspection).resolvers[0]).toMatchObject({ a: { records: ['192.0.2.10'] } });
});

test('name servers that do not answer make resolvers give up, but what these know is still told', async () => {
  holdTimeouts();
  await addresses(first);
  dns.weather.zone('platform.example', { kind: 'silent' });
  const [knows, asks] = (await inspectFor(10_000)).resolvers;
  expect(knows).toMatchObject({ a: { records: ['192.0.2.10'] }, aaaa: failed('timeout') });
  expect(asks).toMatchObject({ a: failed('timeout'), cname: { records: [target] } });
  const looked = dns.lookup('visitor', host, 'A');
  await jest.advanceTimersByTimeAsync(5_000);
  expect(await looked).toMatchObject(failed('servfail'));
});

test('a zone that fails DNSSEC is answered without checking alone', async () => {
  dns.weather.zone('customer.example', { kind: 'bogus' });
  const [facts] = await inspect();
  expect(facts).toMatchObject({
    cname: failed('servfail'),
    unchecked: { question: `CNAME ${host}`, errors: [{ code: 9 }] },
  });
});

test('resolvers can fail, lie and live in the past', async () => {
  const { weather } = dns;
  await addresses(first);
  change('192.0.2.20');
  clock.advance(600_000);
  weather.resolver(first, { kind: 'stale' });
  expect(await addresses(first)).toEqual(['192.0.2.10']);
  weather.resolver(first, { kind: 'foreign', address: '203.0.113.1' });
  expect(await addresses(first)).toEqual(['203.0.113.1']);
  weather.resolver(first, { kind: 'denying' });
  expect((await inspect())[0]).toMatchObject({ cname: absent, a: absent });
  weather.resolver(first, { kind: 'failing', reason: 'refused' });
  expect((await inspect())[0]).toMatchObject({ a: failed('refused') });
  weather.resolver(first, undefined);
  expect(await addresses(first)).toEqual(['192.0.2.20']);
});

test('a process answers for its own zone, or resolvers give up', async () => {
  const zone = 'acme.platform.example';
  let isUp = true;
  const responder = newResponder({ zone });
  dns.zones.register(zone, {}, (query) =>
    isUp ? responder.overTcp(query) : new Promise(() => undefined),
  );
  const value = `${tokenOf(1)}.${zone}`;
  dns.zones.set(`_acme-challenge.${host}`, 'CNAME', [value], 60);
  const look = () => dns.lookup('authority', `_acme-challenge.${host}`, 'TXT');
  expect(await look()).toMatchObject({ records: [firstValue], chain: [value] });
  expect(await dns.lookup(first, zone, 'SOA')).toMatchObject({ records: [{ minimum: 0 }] });
  expect(await dns.lookup(first, `${tokenOf(3)}.${zone}`, 'TXT')).toMatchObject(absent);
  holdTimeouts();
  isUp = false;
  const looked = look();
  await jest.advanceTimersByTimeAsync(5_000);
  expect(await looked).toMatchObject(failed('servfail'));
});

import { expect, test } from '@jest/globals';
import {
  absent,
  address,
  failed,
  host,
  none,
  openInspections,
  records,
  rightZone,
  target,
} from '../../lab/dns/inspection.ts';
import type { Zone } from '../../lab/dns/zone.ts';

const inspect = openInspections();

/** The host has a CNAME to the first name, which has one to the second, and so on. */
const chainOf = (...names: string[]): Zone =>
  Object.fromEntries(
    names.map((name, at) => [at === 0 ? host : names[at - 1]!, { CNAME: [name] }]),
  );
const hops = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `hop-${n + 1}.customer.test`);

test('a chain is returned hop by hop, and the CNAME is its first hop', async () => {
  inspect.dns.setZone({ ...chainOf(...hops(3)), [hops(3)[2]!]: { A: [address] } });
  expect(await inspect.one(host)).toMatchObject({
    cname: records(hops(1)[0]),
    chain: { names: hops(3), end: 'reached' },
    a: records(address),
    aaaa: none,
  });
});

test.each([
  ['itself', [host], []],
  ['itself through another name', ['b.test', host], ['b.test']],
  ['others in a circle', ['b.test', 'c.test', 'b.test'], ['b.test', 'c.test']],
])('a CNAME to %s is a loop', async (_, chain, names) => {
  inspect.dns.setZone(chainOf(...chain));
  const facts = await inspect.one(host);
  expect(facts).toMatchObject({ chain: { names, end: 'loop' }, a: failed('servfail') });
});

test('ten hops are followed, and no more', async () => {
  inspect.dns.setZone(chainOf(...hops(10)));
  expect(await inspect.one(host)).toMatchObject({ chain: { names: hops(10), end: 'reached' } });
  inspect.dns.setZone(chainOf(...hops(17)));
  const { chain } = await inspect.one(host);
  expect(chain).toEqual({ names: hops(10), end: 'too_long' });
});

test('a CNAME to a name that does not exist is followed and has no address', async () => {
  inspect.dns.setZone(chainOf('gone.test'));
  const chain = { names: ['gone.test'], end: 'reached' };
  expect(await inspect.one(host)).toMatchObject({ chain, a: absent, aaaa: absent });
});

test('a chain ends where a resolver fails', async () => {
  inspect.dns.setZone(chainOf(...hops(3)));
  inspect.dns.setFaults({ [hops(2)[1]!]: { rcode: 'SERVFAIL', types: ['CNAME'] } });
  expect(await inspect.one(host)).toMatchObject({ chain: { names: hops(2), end: 'failed' } });
});

test('a name without records of a type is reported without them, even at the end of a CNAME', async () => {
  const mail = { MX: [{ preference: 10, exchange: 'mail.test' }] };
  const ofMail = { a: none, aaaa: none, txt: none, isZoneApex: false };
  const proof = `_animal-store-challenge.${host}`;
  inspect.dns.setZone({ [host]: mail, [proof]: mail });
  expect(await inspect.one(host)).toMatchObject({ cname: none, ...ofMail });
  inspect.dns.setZone({ ...chainOf('m.test'), 'm.test': mail, [proof]: { CNAME: ['m.test'] } });
  expect(await inspect.one(host)).toMatchObject({ cname: records('m.test'), ...ofMail });
});

test('no query is sent for a name that would be too long, because resolvers need not answer it', async () => {
  const labels = `${'y'.repeat(60)}.`.repeat(3);
  const long = `${'z'.repeat(230 - labels.length - 5)}.${labels}test`;
  inspect.dns.setZone({ [long]: { A: [address] } });
  expect(`_animal-store-challenge.${long}`).toHaveLength(254);
  expect(await inspect.one(long)).toMatchObject({ a: records(address), txt: failed('malformed') });
});

test('names are returned in lower case and without the last dot', async () => {
  inspect.dns.setZone({ [host]: { CNAME: ['TOKEN.Platform.TEST.'] }, [target]: { A: [address] } });
  expect(await inspect.one('Shop.CUSTOMER.test.')).toMatchObject({
    cname: records(target),
    chain: { names: [target], end: 'reached' },
    a: records(address),
  });
});

test('an internationalised name is queried in its ASCII form', async () => {
  inspect.dns.setZone({ 'xn--bcher-kva.test': { CNAME: [target] }, [target]: { A: [address] } });
  const facts = await inspect.one('xn--bcher-kva.test');
  expect(facts).toMatchObject({ cname: records(target), a: records(address) });
});

test('the apex of a zone with ALIAS shows addresses and no CNAME', async () => {
  const apex = { SOA: [{ mname: 'ns.test', rname: 'root.test' }], NS: ['ns.test'] };
  inspect.dns.setZone({ ...rightZone, 'customer.test': { ...apex, ALIAS: [target] } });
  expect(await inspect.one('customer.test')).toMatchObject({
    cname: none,
    chain: { names: [], end: 'reached' },
    a: records(address),
    aaaa: records('2001:db8::10'),
    isZoneApex: true,
  });
});

test("a host with a CNAME to an apex, or with only part of an apex's records, is not an apex", async () => {
  const SOA = [{ mname: 'ns.test', rname: 'root.test' }];
  const zone = { ...chainOf('apex.test'), 'apex.test': { SOA, NS: ['ns.test'] } };
  inspect.dns.setZone({ ...zone, 'soa.test': { SOA }, 'ns.test': { NS: ['ns.test'] } });
  for (const name of [host, 'soa.test', 'ns.test']) {
    expect(await inspect.one(name)).toMatchObject({ isZoneApex: false });
  }
});

test('all addresses are returned, each IPv6 address in one spelling', async () => {
  const AAAA = ['2001:DB8:0:0:0::10', '::ffff:192.0.2.10'];
  inspect.dns.setZone({ [host]: { A: [address, '198.51.100.7'], AAAA } });
  expect(await inspect.one(host)).toMatchObject({
    a: records(address, '198.51.100.7'),
    aaaa: records('2001:db8::10', '::ffff:c000:20a'),
  });
});

test('the TTL of addresses is the shortest along the chain', async () => {
  inspect.dns.setZone({
    [host]: { CNAME: [target], TTL: 30 },
    [target]: { A: [address], AAAA: ['2001:db8::10'], TTL: 600 },
  });
  expect(await inspect.one(host)).toMatchObject({ a: { ttl: 30 }, aaaa: { ttl: 30 } });
});

test('the strings of a TXT record are joined', async () => {
  const TXT = [['animal-store-', 'verify=token'], 'v=spf1 -all', ['x'.repeat(255), 'y'.repeat(45)]];
  inspect.dns.setZone({ [`_animal-store-challenge.${host}`]: { TXT } });
  const { txt } = await inspect.one(host);
  expect(txt).toEqual(records(...TXT.map((strings) => [strings].flat().join(''))));
});

test.each([
  [{ CNAME: ['parking.test'] }, records('parking.test')],
  [{ A: ['198.51.100.7'] }, records('198.51.100.7')],
  [{ AAAA: ['2001:db8::7'] }, records('2001:db8::7')],
])('a wildcard beside the host is detected with a random name: %j', async (wildcard, sibling) => {
  inspect.dns.setZone({ ...rightZone, '*.customer.test': wildcard });
  expect(await inspect.one(host)).toMatchObject({ cname: records(target), sibling });
});

test('the random name is new for each inspection and the same for all resolvers', async () => {
  inspect.dns.setZone(rightZone);
  const madeUp = async (): Promise<ReadonlySet<string>> => {
    inspect.dns.log.length = 0;
    await inspect.all(host);
    return new Set(
      inspect.dns.log.map(({ name }) => name).filter((its) => its.startsWith('made-up')),
    );
  };
  const [first, second] = [[...(await madeUp())], [...(await madeUp())]];
  expect(first).toEqual([expect.stringMatching(/^made-up-\d+\.customer\.test$/)]);
  expect(second).toHaveLength(1);
  expect(second).not.toEqual(first);
});

test('a wildcard is looked up at a random name below it, and its CAA records and proof at the name without the asterisk', async () => {
  inspect.dns.setZone({
    '*.shop.customer.test': { CNAME: [target] },
    [target]: { A: [address] },
    '_acme-challenge.shop.customer.test': { CNAME: ['token.acme.test'] },
    'customer.test': { CAA: [{ tag: 'issuewild', value: 'ca.test' }] },
  });
  const facts = await inspect.one('*.shop.customer.test', { asksForDelegation: true });
  expect(facts).toMatchObject({
    cname: records(target),
    chain: { names: [target], end: 'reached' },
    a: records(address),
    delegation: records('token.acme.test'),
    caa: [
      { name: 'shop.customer.test' },
      { name: 'customer.test', answer: records({ flags: 0, tag: 'issuewild', value: 'ca.test' }) },
    ],
  });
  const asked = inspect.dns.log.map(({ name }) => name);
  expect(asked).toContainEqual(expect.stringMatching(/^made-up-\d+\.shop\.customer\.test$/));
  expect(asked.filter((name) => name.includes('*'))).toEqual([]);
});

test('one lying resolver of three is reported beside the two honest ones', async () => {
  inspect.dns.setZone(rightZone);
  inspect.dns.views[1]!.setZone({ [host]: { A: ['198.51.100.7'], TTL: 3600 } });
  const [first, liar, third] = await inspect.all(host);
  for (const facts of [first, third]) expect(facts).toMatchObject({ cname: records(target) });
  expect(liar).toMatchObject({
    resolver: inspect.dns.servers[1],
    cname: none,
    a: { records: ['198.51.100.7'], ttl: 3600 },
    txt: absent,
  });
});

const servers = ['ns1.hover.com', 'ns2.hover.com'];
const ns = { NS: servers };
const soa = { SOA: [{ mname: servers[0]!, rname: 'root.test' }] };
const zoneOf = async (name: string) => {
  const zone = (await inspect.one(name)).zone;
  return zone && { ...zone, nameServers: zone.nameServers.toSorted() };
};

test('the zone of a name is the closest one above it', async () => {
  inspect.dns.setZone({ ...rightZone, 'customer.test': ns, test: { NS: ['a.nic.test'] } });
  expect(await zoneOf(host)).toEqual({ name: 'customer.test', nameServers: servers });
  inspect.dns.setZone({
    ...rightZone,
    'customer.test': { NS: ['ns.elsewhere.test'] },
    'eu.customer.test': ns,
  });
  expect(await zoneOf('shop.eu.customer.test')).toMatchObject({ name: 'eu.customer.test' });
});

test('a name that is the apex of a zone is in that zone', async () => {
  inspect.dns.setZone({
    'customer.test': { NS: ['ns.elsewhere.test'] },
    [host]: { ...ns, ...soa },
  });
  expect(await zoneOf(host)).toEqual({ name: host, nameServers: servers });
});

test('a name whose CNAME leads to the apex of another zone is not in that zone', async () => {
  inspect.dns.setZone({
    [host]: { CNAME: ['elsewhere.test'] },
    'elsewhere.test': { NS: ['ns.elsewhere.test'], ...soa },
    'customer.test': ns,
  });
  expect(await zoneOf(host)).toEqual({ name: 'customer.test', nameServers: servers });
});

test('a zone that no resolver finds is omitted, and top-level domains are never queried', async () => {
  inspect.dns.setZone({ ...rightZone, test: { NS: ['a.nic.test'] } });
  inspect.dns.log.length = 0;
  expect(await inspect.one(host)).not.toHaveProperty('zone');
  const asked = inspect.dns.log.filter(({ type }) => type === 'NS').map(({ name }) => name);
  expect(new Set(asked)).toEqual(new Set([host, 'customer.test']));
});

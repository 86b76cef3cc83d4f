import { expect, test } from '@jest/globals';
import { host, openInspections, rightZone } from '../../lab/dns/inspection.ts';

const inspect = openInspections();

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

test('a zone that nobody finds is left out, and top-level domains are never asked', async () => {
  inspect.dns.setZone({ ...rightZone, test: { NS: ['a.nic.test'] } });
  inspect.dns.log.length = 0;
  expect(await inspect.one(host)).not.toHaveProperty('zone');
  const asked = inspect.dns.log.filter(({ type }) => type === 'NS').map(({ name }) => name);
  expect(new Set(asked)).toEqual(new Set([host, 'customer.test']));
});

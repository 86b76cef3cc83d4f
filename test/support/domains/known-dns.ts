import type {
  CaaLevel,
  DnsAnswer,
  DnsFacts,
  ResolverFacts,
} from '../../../src/domains/domain/dns/facts.ts';
import type { DnsExpectation } from '../../../src/domains/domain/dns/report.ts';
import { fixedTime } from '../settable-clock.ts';

export const checkedAt = fixedTime('2026-03-01T10:00:00Z');

export const none = { kind: 'none' } as const;
export const absent = { kind: 'no_such_name' } as const;
export const timeout = { kind: 'failed', reason: 'timeout' } as const;
export const servfail = { kind: 'failed', reason: 'servfail' } as const;

export const records = <Item>(...items: readonly Item[]): DnsAnswer<Item> => ({
  kind: 'records',
  records: items,
  ttl: 300,
});

export const host = 'shop.example.com';
export const expectation: DnsExpectation = {
  token: 't1',
  platformHost: 'sites.test',
  platformAddresses: ['192.0.2.10', '2001:db8::10'],
  isApex: false,
  isContested: false,
  caa: [
    {
      authority: 'ca.test',
      issuers: ['ca.test'],
      accountUri: 'https://ca.test/acct/1',
      method: 'http-01',
      isWildcard: false,
    },
  ],
};

export const ownership = records('animal-store-verify=t1');

export const facts = (known: Partial<ResolverFacts> = {}): Omit<ResolverFacts, 'resolver'> => ({
  tookMs: 5,
  cname: none,
  chain: { names: [], end: 'reached' },
  a: none,
  aaaa: none,
  txt: none,
  sibling: absent,
  isZoneApex: false,
  caa: noCaa,
  ...known,
});

const noCaa: readonly CaaLevel[] = ['shop.example.com', 'example.com', 'com'].map((name) => ({
  name,
  answer: none,
}));

/** A name whose CNAME leads through these names, and to the platform's addresses if the last one is the platform's. */
export const cname = (...names: readonly string[]): Partial<ResolverFacts> => {
  const isOurs = names.at(-1)?.endsWith('sites.test') ?? false;
  return {
    cname: records(names[0] ?? ''),
    chain: { names, end: 'reached' },
    a: isOurs ? records('192.0.2.10') : none,
  };
};

export const rightCname = cname('t1.sites.test');

/** The answers of the resolvers. A single answer counts for all three. */
export const asked = (...known: readonly Partial<ResolverFacts>[]): DnsFacts => {
  const all = known.length === 1 ? [known[0], known[0], known[0]] : known;
  const resolvers = all.map((one, at) => ({ ...facts(one), resolver: `198.51.100.${at + 1}` }));
  return { host, checkedAt, resolvers };
};

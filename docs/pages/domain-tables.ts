import { dnsProblems } from '../../src/domains/domain/dns/problem.ts';
import { recordsFor, type DnsRecord } from '../../src/domains/domain/dns/records.ts';
import { domainNameProblems } from '../../src/domains/domain/domains-error.ts';
import { byHand, code, type Printed, table } from './markdown.ts';

export const domainTables = (): Readonly<Record<string, Printed>> => ({
  records: records(needed(subdomain)),
  apex: records(needed({ host: 'example.com', isApex: true })),
  delegation: records(needed(subdomain, acmeDnsZone).filter(isDelegation)),
  wildcard: records(needed({ host: '*.shop.example.com', isApex: false }, acmeDnsZone)),
  refusals: table(
    ['Code', 'Meaning', 'What to do'],
    [...domainNameProblems, ...otherRefusals].map((name) => [code(name), byHand, byHand]),
  ),
  problems: table(
    ['Problem', 'Kind', 'Who acts', 'What to do'],
    Object.entries(dnsProblems).map(([name, { severity, actor, fix }]) => [
      code(name),
      severity,
      { customer: 'you', us: 'we', nobody: 'nobody' }[actor],
      fix,
    ]),
  ),
});

const otherRefusals = [
  'plan_upgrade_required',
  'domains_added_too_fast',
  'domain_limit_reached',
  'no_successful_deploy',
  'domain_taken',
];

const subdomain = { host: 'shop.example.com', isApex: false };
const acmeDnsZone = 'acme.animal-store.test';
const isDelegation = ({ purpose }: DnsRecord): boolean => purpose === 'delegation';

const needed = (
  named: { readonly host: string; readonly isApex: boolean },
  zone?: string,
): readonly DnsRecord[] =>
  recordsFor({ ...named, registrableDomain: 'example.com' }, 't-01a1fde9e0ef74ad99ff13be17f97481', {
    platformHost: 'sites.animal-store.test',
    ...(zone !== undefined && { acmeDnsZone: zone }),
    txtRequired: false,
  });

const records = (of: readonly DnsRecord[]): Printed =>
  table(
    ['Name', 'Type', 'Value', 'TTL', 'Required'],
    of.map(({ name, type, value, ttl, required }) => [
      code(name),
      type === 'ALIAS' ? 'ALIAS or ANAME' : type,
      code(value),
      String(ttl),
      required ? 'yes' : 'no',
    ]),
  );

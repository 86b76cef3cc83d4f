import { providers } from '../../src/domains/domain/dns/provider.ts';
import { dnsProblems } from '../../src/domains/domain/dns/problem.ts';
import type { DnsRecord } from '../../src/domains/domain/dns/records.ts';
import {
  attempts,
  budgets,
  exampleDelegation,
  exampleRecords,
  exampleWildcard,
  limitColumns,
  limits,
  recordRow,
} from './domain-examples.ts';
import { code, table } from './markdown.ts';
import { refusals } from './domain-refusals.ts';
import { providerRow } from './domain-providers.ts';

const records = (of: readonly DnsRecord[]): string =>
  table(['Name', 'Type', 'Value', 'TTL', 'Required'], of.map(recordRow));

export const domainTables = (): Readonly<Record<string, string>> => ({
  plans: table(limitColumns, limits()),
  records: records(exampleRecords(false)),
  apex: records(exampleRecords(true)),
  delegation: records(exampleDelegation()),
  wildcard: records(exampleWildcard()),
  refusals: table(['Code', 'Meaning', 'What to do'], refusals()),
  problems: table(
    ['Problem', 'Kind', 'Who acts', 'What to do'],
    Object.entries(dnsProblems).map(([name, { severity, actor, fix }]) => [
      code(name),
      severity,
      { customer: 'you', us: 'we', nobody: 'nobody' }[actor],
      fix,
    ]),
  ),
  providers: table(
    ['Provider', 'Name', 'The domain itself', 'Value', 'From'],
    providers.map(providerRow),
  ),
  attempts: table(['After failure', 'Next attempt'], attempts()),
  budgets: table(['What', 'We stop at', 'The authority allows', 'Within'], budgets()),
});

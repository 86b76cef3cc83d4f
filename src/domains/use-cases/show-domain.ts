import type { BudgetView } from '../domain/certificates/ca-budget.ts';
import { workOn } from '../domain/certificates/standing.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { isAtApex } from '../domain/dns/standing.ts';
import { healthOf, type DomainHealth } from '../domain/attachment/health.ts';
import type { DnsProblem } from '../domain/dns/problem.ts';
import { bindSnippet, recordHints, recordsFor, type DnsRecord } from '../domain/dns/records.ts';
import { dueAt } from '../domain/attachment/schedule.ts';
import type { DomainPorts } from '../ports.ts';
import { domainBudget } from './domain-budget.ts';
import { readTimeline, type TimelinePage } from './read-timeline.ts';

/** Everything that the owner sees of a domain. */
export interface DomainView {
  readonly domain: CustomDomain;
  readonly records: readonly DnsRecord[];
  readonly bind: string;
  readonly hints: readonly string[];
  readonly problems: readonly DnsProblem[];
  readonly health: DomainHealth | undefined;
  /** How much of the authority's rate limits is used. */
  readonly budget: BudgetView;
  /** Time of the next automatic step. */
  readonly nextAt: Date | undefined;
  readonly timeline: TimelinePage;
}

type Ports = Pick<DomainPorts, 'domains' | 'ledger' | 'timeline' | 'naming' | 'clock'>;

/** @param before which page of the timeline: see `readTimeline` */
export const showDomain = (ports: Ports) => {
  const { domains, naming, clock } = ports;
  const budgetOf = domainBudget(ports);
  const timeline = readTimeline(ports);
  return async (domain: CustomDomain, before?: bigint): Promise<DomainView> => {
    const now = clock.now();
    const { token, registrableDomain, dns } = domain;
    const isApex = isAtApex(domain);
    const holder = await domains.holderOf(domain.host);
    const isContested = holder !== undefined && holder.id !== domain.id;
    // Known before the DNS is asked for the first time.
    const txtRequired = isContested || (dns.report?.ownershipRequired ?? false);
    const needs = { platformHost: naming.platformHost, txtRequired };
    const records = recordsFor({ ...domain, isApex }, token, needs);
    return {
      domain,
      records,
      bind: bindSnippet(records, registrableDomain),
      hints: recordHints(isApex),
      problems: problemsOf(domain),
      health: healthOf(domain, now),
      budget: await budgetOf(domain),
      nextAt: dueAt(domain),
      timeline: await timeline(domain, before),
    };
  };
};

/** DNS problems first, then the authority's; duplicates are dropped. */
const problemsOf = (domain: CustomDomain): readonly DnsProblem[] => {
  const problems = domain.dns.report?.problems ?? [];
  const problem = workOn(domain)?.problem;
  return problem && !problems.some(({ code }) => code === problem.code)
    ? [...problems, problem]
    : problems;
};

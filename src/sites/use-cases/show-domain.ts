import { describeBudget, type BudgetView } from '../domain/ca-budget.ts';
import type { CustomDomain } from '../domain/custom-domain.ts';
import { healthOf, type DomainHealth } from '../domain/domain-health.ts';
import type { DnsProblem } from '../domain/dns-problem.ts';
import { bindSnippet, recordHints, recordsFor, type DnsRecord } from '../domain/dns-records.ts';
import { dueAt } from '../domain/domain-schedule.ts';
import type { DomainPorts, TimelineEntry } from '../domain-ports.ts';

/** Everything that its owner has to see of a domain. */
export interface DomainView {
  readonly domain: CustomDomain;
  readonly records: readonly DnsRecord[];
  readonly bind: string;
  readonly hints: readonly string[];
  readonly problems: readonly DnsProblem[];
  readonly health: DomainHealth | undefined;
  /** What of the authority's patience is used up. */
  readonly budget: BudgetView;
  /** When something is done by itself. */
  readonly nextAt: Date | undefined;
  /** Newest first. */
  readonly timeline: readonly TimelineEntry[];
}

const mostEntries = 100;

export const showDomain =
  ({ ledger, timeline, naming, clock }: DomainPorts) =>
  async (domain: CustomDomain): Promise<DomainView> => {
    const now = clock.now();
    const { token, isApex, registrableDomain, dns, certificate } = domain;
    const txtRequired = dns.report?.ownershipRequired ?? false;
    const needs = { platformHost: naming.platformHost, txtRequired };
    const records = recordsFor({ ...domain, isApex: dns.report?.isApex ?? isApex }, token, needs);
    return {
      domain,
      records,
      bind: bindSnippet(records, registrableDomain),
      hints: recordHints(isApex),
      problems: problemsOf(domain),
      health: healthOf(domain, now),
      budget: describeBudget(await ledger.use(domain, now), certificate.nextAttemptAt, now),
      nextAt: dueAt(domain),
      timeline: await timeline.list(domain.id, mostEntries),
    };
  };

/** What the DNS says first, then what the authority said; the same thing is told once. */
const problemsOf = ({ dns, certificate }: CustomDomain): readonly DnsProblem[] => {
  const problems = dns.report?.problems ?? [];
  const { problem } = certificate;
  return problem && !problems.some(({ code }) => code === problem.code)
    ? [...problems, problem]
    : problems;
};

import { describeBudget, type BudgetView, type Hold } from '../domain/certificates/ca-budget.ts';
import { workOn } from '../domain/certificates/standing.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { wantedAttempt } from '../domain/attachment/order.ts';
import { isAtApex } from '../domain/dns/standing.ts';
import { healthOf, type DomainHealth } from '../domain/attachment/health.ts';
import type { DnsProblem } from '../domain/dns/problem.ts';
import { bindSnippet, recordHints, recordsFor, type DnsRecord } from '../domain/dns/records.ts';
import { attemptAt, dueAt } from '../domain/attachment/schedule.ts';
import type { DomainPorts } from '../ports.ts';
import { readTimeline, type TimelinePage } from './read-timeline.ts';

export interface DomainView {
  readonly domain: CustomDomain;
  readonly records: readonly DnsRecord[];
  readonly bind: string;
  readonly hints: readonly string[];
  readonly problems: readonly DnsProblem[];
  readonly health: DomainHealth | undefined;
  /** How much of the authority's rate limits is used. */
  readonly budget: BudgetView;
  readonly nextAt: Date | undefined;
  readonly timeline: TimelinePage;
}

type BudgetPorts = Pick<DomainPorts, 'ledger' | 'clock'>;
type Ports = BudgetPorts & Pick<DomainPorts, 'domains' | 'timeline' | 'naming'>;

/** @param before which page of the timeline: see `readTimeline` */
export const showDomain =
  (ports: Ports) =>
  async (domain: CustomDomain, before?: bigint): Promise<DomainView> => {
    const { domains, naming, clock } = ports;
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
      budget: await domainBudget(ports, domain),
      nextAt: dueAt(domain),
      timeline: await readTimeline(ports)(domain, before),
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

/** How much of the authority's rate limits a domain has used, and which limit its next attempt waits for. */
const domainBudget = async (
  { ledger, clock }: BudgetPorts,
  domain: CustomDomain,
): Promise<BudgetView> => {
  const now = clock.now();
  const use = await ledger.use(domain, now);
  return describeBudget(use, wantedAttempt(domain), attemptAt(domain), now);
};

/** The limits that first certificates wait for, by domain id; domains that wait for none are left out. */
export const showHolds =
  (ports: BudgetPorts) =>
  async (domains: readonly CustomDomain[]): Promise<ReadonlyMap<string, Hold>> => {
    const waiting = domains.filter(({ state }) => state === 'verified');
    const holds = waiting.map(async (domain) => {
      const { heldUpBy } = await domainBudget(ports, domain);
      return heldUpBy ? [[domain.id, heldUpBy] as const] : [];
    });
    return new Map((await Promise.all(holds)).flat());
  };

import { describeBudget, type BudgetView, type Hold } from '../domain/certificates/ca-budget.ts';
import { workOn } from '../domain/certificates/standing.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { contestInWords, provenElsewhere } from '../domain/attachment/contested-name.ts';
import { isAtApex } from '../domain/dns/standing.ts';
import { healthOf, type DomainHealth } from '../domain/attachment/health.ts';
import type { DnsProblem } from '../domain/dns/problem.ts';
import { hostedZone, type HostedZone } from '../domain/dns/provider.ts';
import { bindSnippet, recordHints, recordsFor, type DnsRecord } from '../domain/dns/records.ts';
import { attemptAt, dueAt } from '../domain/attachment/schedule.ts';
import type { DomainPorts } from '../ports.ts';
import { orderedAt, wantedAttempt } from '../domain/certificates/certificate-work.ts';
import { workOf } from '../domain/attachment/certificate.ts';
import { authorityFor, type AuthorityPorts } from './authorities.ts';
import { roleOf, showDomainSettings, type DomainRole } from './domain-settings.ts';
import { sharedTokenOf } from './shared-token.ts';
import { readTimeline, type TimelinePage } from './read-timeline.ts';

/** What concerns the domain alone, and nothing else of its account. */
export interface DescribedDomain {
  readonly domain: CustomDomain;
  readonly records: readonly DnsRecord[];
  /** Where they are edited, if we know. */
  readonly hosted: HostedZone | undefined;
  readonly bind: string;
  readonly hints: readonly string[];
  /** What it needs beyond the others, because another account has proven the name. */
  readonly contest: string | undefined;
  readonly problems: readonly DnsProblem[];
  readonly health: DomainHealth | undefined;
  readonly nextAt: Date | undefined;
  readonly role: DomainRole;
}

export interface DomainView extends DescribedDomain {
  /** How much of the authority's rate limits is used. */
  readonly budget: BudgetView;
  readonly timeline: TimelinePage;
}

type BudgetPorts = AuthorityPorts & Pick<DomainPorts, 'ledger' | 'clock'>;
export type DescribePorts = Pick<DomainPorts, 'domains' | 'settings' | 'naming' | 'clock'>;
type Ports = BudgetPorts & DescribePorts & Pick<DomainPorts, 'timeline'>;

/** @param before which page of the timeline: see `readTimeline` */
export const showDomain =
  (ports: Ports) =>
  async (domain: CustomDomain, before?: bigint): Promise<DomainView> => ({
    ...(await describeDomain(ports)(domain)),
    budget: await domainBudget(ports, domain),
    timeline: await readTimeline(ports)(domain, before),
  });

export const describeDomain =
  (ports: DescribePorts) =>
  async (domain: CustomDomain): Promise<DescribedDomain> => {
    const { domains, naming, clock } = ports;
    const now = clock.now();
    const { host, token, registrableDomain, dns } = domain;
    const isApex = isAtApex(domain);
    const proven = provenElsewhere(domain, await domains.holdersOf(host));
    // Known before the DNS is asked for the first time.
    const txtRequired = proven !== undefined || (dns.report?.ownershipRequired ?? false);
    const { platformHost } = naming;
    const { acmeDnsZone } = naming;
    const sharedToken = acmeDnsZone && (await sharedTokenOf(domains, domain));
    const { delegated, label } = dns.report?.validation ?? {};
    const isDelegated = acmeDnsZone !== undefined && delegated && label === undefined;
    const needs = { platformHost, acmeDnsZone, sharedToken, txtRequired, isDelegated };
    const records = recordsFor({ ...domain, isApex }, token, needs);
    return {
      domain,
      records,
      hosted: hostedZone(dns.report?.zone, registrableDomain),
      bind: bindSnippet(records, registrableDomain),
      hints: recordHints({ host, isApex, sharedToken }),
      contest:
        proven !== undefined && domain.state === 'added'
          ? contestInWords(domain, proven)
          : undefined,
      problems: problemsOf(domain),
      health: healthOf(domain, now),
      nextAt: dueAt(domain),
      role: roleOf(await showDomainSettings(ports)(domain.projectId), domain),
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
const domainBudget = async (ports: BudgetPorts, domain: CustomDomain): Promise<BudgetView> => {
  const now = ports.clock.now();
  const work = workOf(domain);
  const ordered = work ? orderedAt(work) : '';
  const authority = ordered || authorityFor(ports, work, attemptAt(domain) ?? now).name;
  const use = await ports.ledger.use({ ...domain, authority }, now);
  const wanted = work
    ? wantedAttempt(work, authority)
    : ({ isManual: false, kind: 'new' } as const);
  return describeBudget(use, wanted, attemptAt(domain), now);
};

/** The limits that first certificates wait for, by domain id; domains that wait for none are left out. */
export const showHolds =
  (ports: BudgetPorts) =>
  async (domains: readonly CustomDomain[]): Promise<ReadonlyMap<string, Hold>> => {
    const waiting = domains.filter(({ certificate }) => certificate.kind === 'wanted');
    const holds = waiting.map(async (domain) => {
      const { heldUpBy } = await domainBudget(ports, domain);
      return heldUpBy ? [[domain.id, heldUpBy] as const] : [];
    });
    return new Map((await Promise.all(holds)).flat());
  };

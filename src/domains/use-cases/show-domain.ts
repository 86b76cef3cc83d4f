import { contestInWords, provenElsewhere } from '../domain/attachment/contested-name.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { workOf } from '../domain/attachment/domain-certificate.ts';
import { attemptAt, dueAt } from '../domain/attachment/due-work.ts';
import { type DomainHealth, healthOf } from '../domain/attachment/serving.ts';
import { type DomainShare, endShare, shareDomain } from '../domain/attachment/share.ts';
import { type BudgetView, describeBudget, type Hold } from '../domain/certificates/ca-budget.ts';
import { workOn } from '../domain/certificates/certificate-status.ts';
import { orderedAt, wantedAttempt } from '../domain/certificates/certificate-work.ts';
import { isAtApex } from '../domain/dns/judgement.ts';
import type { DnsProblem } from '../domain/dns/problem.ts';
import { hostedZone, type HostedZone } from '../domain/dns/provider.ts';
import { bindSnippet, type DnsRecord, recordHints, recordsFor } from '../domain/dns/records.ts';
import { shareUnknown } from '../domain/domains-error.ts';
import type { DomainPorts, PlacedEntry } from '../ports.ts';
import { authorityFor, type AuthorityPorts } from './advance-order.ts';
import { type DomainRole, roleOf, showDomainSettings } from './domain-settings.ts';
import { sharedTokenOf } from './tend-domain.ts';

/** Contains only this domain's data, because a shared link shows it. */
export interface DescribedDomain {
  readonly domain: CustomDomain;
  readonly records: readonly DnsRecord[];
  readonly hosted: HostedZone | undefined;
  readonly bind: string;
  readonly hints: readonly string[];
  readonly contest: string | undefined;
  readonly problems: readonly DnsProblem[];
  readonly health: DomainHealth | undefined;
  readonly nextAt: Date | undefined;
  readonly role: DomainRole;
}

export interface DomainView extends DescribedDomain {
  readonly budget: BudgetView;
  readonly timeline: TimelinePage;
}

type BudgetPorts = AuthorityPorts & Pick<DomainPorts, 'ledger' | 'clock'>;
export type DescribePorts = Pick<DomainPorts, 'domains' | 'settings' | 'naming' | 'clock'>;
type Ports = BudgetPorts & DescribePorts & Pick<DomainPorts, 'timeline'>;

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
    // Known before the first DNS check.
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

const problemsOf = (domain: CustomDomain): readonly DnsProblem[] => {
  const problems = domain.dns.report?.problems ?? [];
  const problem = workOn(domain)?.problem;
  return problem && !problems.some(({ code }) => code === problem.code)
    ? [...problems, problem]
    : problems;
};

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

export interface TimelinePage {
  readonly entries: readonly PlacedEntry[];
  readonly older: bigint | undefined;
}

const pageSize = 20;

export const readTimeline =
  ({ timeline }: Pick<DomainPorts, 'timeline'>) =>
  async ({ id }: Pick<CustomDomain, 'id'>, before?: bigint): Promise<TimelinePage> => {
    const found = await timeline.list(id, pageSize + 1, before);
    const entries = found.slice(0, pageSize);
    return { entries, older: found.length > pageSize ? entries.at(-1)?.place : undefined };
  };

export const readWholeTimeline =
  (ports: Pick<DomainPorts, 'timeline'>) =>
  async (domain: Pick<CustomDomain, 'id'>): Promise<readonly PlacedEntry[]> => {
    const all: PlacedEntry[] = [];
    for (let before: bigint | undefined; ;) {
      const { entries, older } = await readTimeline(ports)(domain, before);
      all.push(...entries);
      if (older === undefined) return all;
      before = older;
    }
  };

type SharePorts = Pick<DomainPorts, 'shares' | 'linkSecrets' | 'clock' | 'ids'>;

export interface MadeShare extends DomainShare {
  readonly secret: string;
}

/** @throws DomainError `domain_not_found`, `domain_wrong_state`, `share_limit_reached` */
export const makeShare =
  ({ shares, linkSecrets, clock, ids }: SharePorts) =>
  async (domain: CustomDomain): Promise<MadeShare> => {
    const [secret, id, now] = [linkSecrets.next(), ids.next('share'), clock.now()];
    const draft = { id, secretHash: linkSecrets.hash(secret), now };
    const { added } = await shares.change(domain, now, (one, open) =>
      shareDomain(one, open, draft),
    );
    return { ...added.share, secret };
  };

/** May be repeated. @throws DomainError `domain_not_found` */
export const revokeShare =
  ({ shares, clock }: SharePorts) =>
  async (domain: CustomDomain, id: string): Promise<void> => {
    const now = clock.now();
    await shares.change(domain, now, (one, open) => endShare(one, open, { id, now }));
  };

export interface SharedDomain extends DescribedDomain {
  readonly share: DomainShare;
}

/** @throws DomainError `share_unknown`, the same for all links that do not work */
export const showShared =
  (ports: SharePorts & DescribePorts) =>
  async (secret: string): Promise<SharedDomain> => {
    const { shares, linkSecrets, domains, clock } = ports;
    const share = await shares.find(linkSecrets.hash(secret), clock.now());
    const domain = share && (await domains.get(share.domainId));
    if (!domain) throw shareUnknown();
    return { ...(await describeDomain(ports)(domain)), share };
  };

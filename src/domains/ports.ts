import type { EdgeRecords } from './edge-ports.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Decision } from '../kernel/decision.ts';
import type { Ids } from '../kernel/ids.ts';
import type { DomainsEvent } from './domain/domains-event.ts';
import type {
  AuthorityLedger,
  CertificateAuthority,
  CertificateOrders,
  Certificates,
} from './certificate-ports.ts';
import type { AdmissionFacts, DomainAllowance } from './domain/attachment/admission.ts';
import type { DomainChange } from './domain/attachment/change.ts';
import type { CustomDomain, DomainDecision } from './domain/attachment/custom-domain.ts';
import type { ProjectHost } from './domain/attachment/serving.ts';
import type { TimelineEntry } from './domain/attachment/timeline.ts';
import type { CaUse } from './domain/certificates/ca-budget.ts';
import type { DnsFacts } from './domain/dns/facts.ts';
import type { DnsJudgement } from './domain/dns/judgement.ts';
import type { DnsExpectation } from './domain/dns/report.ts';
import type { NameFacts, NameSettings } from './domain/names/name-facts.ts';
import type { DomainSettings } from './domain/redirects/settings.ts';

/** Judges the answers of name servers. The owner of a name controls their content. */
export abstract class DnsJudge {
  /**
   * What `judgementOn` says. Answers that take too long, or too much memory, are `unjudged`.
   * @throws Unavailable
   */
  abstract judge(facts: DnsFacts, expectation: DnsExpectation): Promise<DnsJudgement>;
}

/** Waits for the given number of milliseconds. */
export type Pause = (milliseconds: number) => Promise<void>;

/** An entry with its position; later entries have higher ones. */
export interface PlacedEntry extends TimelineEntry {
  readonly place: bigint;
}

/** What happened to each attachment; `CustomDomains` stores it with the state. An entry is never changed. */
export abstract class Timeline {
  /** Newest first. @param before a place: only what is older than that */
  abstract list(domainId: string, limit: number, before?: bigint): Promise<readonly PlacedEntry[]>;
}

export interface DomainClaim {
  /** Never used again. */
  readonly claim: string;
  readonly domains: readonly CustomDomain[];
}

export interface HeldDomain {
  readonly id: string;
  readonly claim: string;
}

export interface WantedDomain {
  readonly accountId: string;
  readonly projectId: string;
  readonly host: string;
  /** `addedLately` covers the time since then. */
  readonly addedSince: Date;
}

/**
 * Custom domains, one for each attachment. What is removed stays for its owner to see. Every change stores the timeline
 * (see `timelineOf`), the ledger and the events in the same step, or nothing at all.
 */
export abstract class CustomDomains {
  /**
   * Counts, decides and stores as one step: of rivals for the last place, one gets it.
   * @throws DomainError `project_not_found`; whatever `decide` throws
   */
  abstract add(
    wanted: WantedDomain,
    decide: (facts: Omit<AdmissionFacts, 'allowance'>) => DomainDecision,
  ): Promise<CustomDomain>;

  /** The newest attachment of a host to a project, removed or not. */
  abstract find(projectId: string, host: string): Promise<CustomDomain | undefined>;

  abstract get(id: string): Promise<CustomDomain | undefined>;

  /** Newest first; of the removed ones the last 20. */
  abstract list(projectId: string): Promise<readonly CustomDomain[]>;

  /** Who has proven the name: the attachment that is verified or live. */
  abstract holderOf(host: string): Promise<CustomDomain | undefined>;

  /**
   * Locks the domain and the holder of its name, decides, and saves all of it together: state, route, certificate,
   * timeline, ledger, events. When it is removed, its route, certificate, challenge and keys go in the same step. Trims
   * the timeline as `trimsAfter` says, one slice per change; later changes trim the rest.
   * @param decide synchronous; `holder` is another attachment
   * @returns what was decided
   * @throws DomainError `domain_not_found`, `domain_taken` when another account proved the name meanwhile
   */
  abstract change<Change extends DomainChange>(
    id: string,
    decide: (domain: CustomDomain, holder: CustomDomain | undefined) => Change,
  ): Promise<Change>;

  /**
   * As `change`, for changes that count against the authority's limits: `decide` receives the current use. Counting and
   * deciding are one step, so only one rival gets the last place.
   */
  abstract changeCounted<Change extends DomainChange>(
    id: string,
    now: Date,
    decide: (domain: CustomDomain, use: CaUse) => Change,
  ): Promise<Change>;

  /**
   * Claims up to `limit` due domains, the longest overdue first, until `leaseUntil`. After a crash the lease expires
   * and others can claim them.
   */
  abstract claimDue(now: Date, leaseUntil: Date, limit: number): Promise<DomainClaim>;

  /** Extends the lease of a worker that is still alive; skips domains that another worker has claimed. */
  abstract prolong(held: readonly HeldDomain[], leaseUntil: Date): Promise<void>;

  /** Ends the lease early, unless another worker has claimed the domain. */
  abstract release(held: HeldDomain): Promise<void>;

  /** Ids of the live ones, in order, after `after`. */
  abstract live(after: string, limit: number): Promise<readonly CustomDomain[]>;
}

/** The facts that decide on a project's settings. */
export interface SettingsFacts {
  readonly accountId: string;
  /** Those that are not removed, the oldest first. */
  readonly hosts: readonly ProjectHost[];
}

/** What owners decide about the hosts of a project. */
export abstract class ProjectSettings {
  abstract read(projectId: string): Promise<DomainSettings>;

  /**
   * Locks, decides with the hosts as they are, saves settings, routes and events together. `decide` is synchronous.
   * @throws DomainError `project_not_found`; whatever `decide` throws
   */
  abstract change(
    projectId: string,
    decide: (
      settings: DomainSettings,
      facts: SettingsFacts,
    ) => Decision<DomainSettings, DomainsEvent>,
  ): Promise<DomainSettings>;
}

/** What the plan of an account allows; another context keeps the plans. */
export abstract class DomainAllowances {
  /** Of an account that does not exist: the smallest. */
  abstract of(accountId: string): Promise<DomainAllowance>;
}

export interface DomainPorts {
  readonly domains: CustomDomains;
  readonly settings: ProjectSettings;
  readonly allowances: DomainAllowances;
  readonly edgeRecords: EdgeRecords;
  /** The account of a project, by its slug; another context keeps them. */
  readonly accountOf: (slug: string) => Promise<string | undefined>;
  readonly hostNames: HostNames;
  readonly dns: DnsVerifier;
  readonly judge: DnsJudge;
  readonly authority: CertificateAuthority;
  readonly certificates: Certificates;
  readonly orders: CertificateOrders;
  readonly ledger: AuthorityLedger;
  readonly timeline: Timeline;
  readonly naming: NameSettings;
  /** What an apex has to resolve to. */
  readonly platformAddresses: readonly string[];
  readonly clock: Clock;
  readonly ids: Ids;
  /** 0 to below 1, from outside. */
  readonly chance: () => number;
  readonly pause: Pause;
}

/** Asks every configured resolver separately. Nothing is cached between calls. */
export abstract class DnsVerifier {
  /** Takes at most 10 s. Never throws: a failure is a fact too. */
  abstract inspect(host: string): Promise<DnsFacts>;
}

/** What IDNA and the Public Suffix List know about names. */
export abstract class HostNames {
  /** @param name cleaned; anything else too: never throws */
  abstract read(name: string): NameFacts;
}

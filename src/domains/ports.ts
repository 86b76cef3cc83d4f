import type {
  AuthorityLedger,
  CertificateAuthority,
  CertificateOrders,
  Certificates,
  DnsChallenges,
  OwnNames,
} from './certificate-ports.ts';
import type {
  DomainAllowance,
  CustomDomain,
  CustomDomainState,
} from './domain/attachment/custom-domain.ts';
import type { Attention, DomainFilter } from './domain/attachment/due-work.ts';
import type { ProjectHost } from './domain/attachment/serving.ts';
import type { DomainShare, ShareChange } from './domain/attachment/share.ts';
import type { DomainChange, TimelineEntry } from './domain/attachment/timeline-entries.ts';
import type { CaUse } from './domain/certificates/ca-budget.ts';
import type { Validity } from './domain/certificates/renewal.ts';
import type { DnsFacts } from './domain/dns/facts.ts';
import type { DomainsEvent } from './domain/domains-event.ts';
import type { NameFacts, NameSettings } from './domain/names/hostname.ts';
import type { AddDecision, AddFacts, Pair } from './domain/redirects/pair.ts';
import type { Route } from './domain/redirects/redirects.ts';
import type { DomainSettings } from './domain/redirects/settings.ts';
import type { Clock, Ids } from '../kernel/ports.ts';
import type { Decision } from '../kernel/decision.ts';
import type { Claimed, Most, Queue } from '../kernel/queue.ts';

export type Pause = (milliseconds: number) => Promise<void>;

export interface PlacedEntry extends TimelineEntry {
  readonly place: bigint;
}

/** The history of each attachment, stored by `CustomDomains` with the state. Entries never change. */
export abstract class Timeline {
  abstract list(domainId: string, limit: number, before?: bigint): Promise<readonly PlacedEntry[]>;

  abstract newestAttempt(domainId: string): Promise<PlacedEntry | undefined>;
}

export interface SettingsFacts {
  readonly accountId: string;
  /** Without removed domains; the oldest first. */
  readonly hosts: readonly ProjectHost[];
}

export abstract class ProjectSettings {
  abstract read(projectId: string): Promise<DomainSettings>;

  /**
   * Locks the project, decides with its current hosts, and saves settings, routes and events together. `decide` is
   * synchronous.
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

export abstract class DomainAllowances {
  abstract of(accountId: string): Promise<DomainAllowance>;
}

export interface DomainPorts {
  readonly domains: CustomDomains;
  readonly settings: ProjectSettings;
  readonly allowances: DomainAllowances;
  readonly edgeRecords: EdgeRecords;
  readonly accountOf: (slug: string) => Promise<string | undefined>;
  readonly hostNames: HostNames;
  readonly dns: DnsVerifier;
  readonly authority: CertificateAuthority;
  /** Used if the preferred authority does not answer or CAA forbids it. */
  readonly secondAuthority: CertificateAuthority | undefined;
  readonly certificates: Certificates;
  readonly orders: CertificateOrders;
  readonly dnsChallenges: DnsChallenges;
  readonly ownNames: OwnNames;
  readonly hasPlatformFiles: boolean;
  readonly ledger: AuthorityLedger;
  readonly timeline: Timeline;
  readonly shares: DomainShares;
  readonly linkSecrets: { readonly next: () => string; readonly hash: (secret: string) => string };
  readonly naming: NameSettings;
  readonly platformAddresses: readonly string[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly chance: () => number;
  readonly pause: Pause;
}

/** Queries every configured resolver, without a cache. */
export abstract class DnsVerifier {
  /** Takes at most 10 s. Never throws: failures are facts. */
  abstract inspect(host: string): Promise<DnsFacts>;
}

export abstract class HostNames {
  /** Never throws. @param name any text */
  abstract read(name: string): NameFacts;
}

export interface DueDomain extends Claimed {
  readonly domain: CustomDomain;
}

export interface WantedDomains {
  readonly accountId: string;
  readonly projectId: string;
  readonly hosts: Pair<string>;
  readonly addedSince: Date;
}

export interface DomainPlace {
  readonly attention: Attention;
  readonly at: Date;
  readonly host: string;
  readonly id: string;
}

export interface DomainListing {
  readonly filter: DomainFilter;
  readonly text: string;
  readonly after: DomainPlace | undefined;
  readonly limit: number;
}

export interface DomainOverview {
  readonly primaries: ReadonlyMap<string, CustomDomain>;
  /** The domains that need their owner first; see `attentionAt`. */
  readonly wanting: readonly CustomDomain[];
  readonly wantingInAll: number;
  readonly attached: ReadonlyMap<string, number>;
  readonly live: number;
}

export type DomainCounts = Readonly<Record<DomainFilter, number>>;

/** Removed domains stay visible. Every change stores its timeline, ledger entries and events in one step. */
export abstract class CustomDomains {
  /**
   * Stores all names with the project's settings, or nothing. Only one rival gets the last place.
   * @throws DomainError `project_not_found`; what `decide` throws
   */
  abstract add(
    wanted: WantedDomains,
    decide: (facts: AddFacts) => AddDecision,
  ): Promise<AddDecision>;

  /** The newest attachment of a host to a project, including removed ones. */
  abstract find(projectId: string, host: string): Promise<CustomDomain | undefined>;

  abstract get(id: string): Promise<CustomDomain | undefined>;

  /** Without removed domains and those of deleted projects, sorted by name. @param text part of the name, in lower case, not empty */
  abstract listNamed(
    accountId: string,
    text: string,
    limit: number,
  ): Promise<readonly CustomDomain[]>;

  abstract list(projectId: string): Promise<readonly CustomDomain[]>;

  abstract listPage(projectId: string, listing: DomainListing): Promise<readonly CustomDomain[]>;

  /** All projects of an account, without deleted ones, in a few queries. @param most limits `wanting` */
  abstract overview(accountId: string, most: number): Promise<DomainOverview>;

  abstract countListed(projectId: string): Promise<DomainCounts>;

  /** Verified and live attachments of the name, then of the wildcard that covers it. One query. */
  abstract holdersOf(host: string): Promise<readonly CustomDomain[]>;

  /**
   * Locks the domain and the holder of its name, decides, adds notices (see `withNews`), and saves everything
   * together: state, route, certificate, timeline, ledger, events. A removal deletes route, certificate, challenge
   * and keys in the same step. Trims a part of the timeline with each change; see `trimsAfter`.
   * @param decide synchronous; `holder` is another attachment
   * @returns the decision
   * @throws DomainError `domain_not_found`; `domain_taken` if another account proved the name meanwhile
   */
  abstract change<Change extends DomainChange>(
    id: string,
    decide: (domain: CustomDomain, holder: CustomDomain | undefined) => Change,
  ): Promise<Change>;

  /** Like `change`; `decide` also gets the use of limits in the same step, so one rival gets the last place. */
  abstract changeCounted<Change extends DomainChange>(
    id: string,
    at: { readonly authority: string; readonly now: Date },
    decide: (domain: CustomDomain, use: CaUse) => Change,
  ): Promise<Change>;

  abstract inState(
    state: CustomDomainState,
    after: string,
    limit: number,
  ): Promise<readonly CustomDomain[]>;

  abstract countByState(): Promise<Readonly<Record<CustomDomainState, number>>>;
}

/** Domains with work. A change during a claim takes effect when the claim is released. */
export abstract class DueDomains implements Queue<DueDomain> {
  abstract claim(now: Date, leaseUntil: Date, most: Most): Promise<readonly DueDomain[]>;
  abstract nextDueAt(): Promise<Date | undefined>;
  abstract prolong(held: readonly Claimed[], leaseUntil: Date): Promise<void>;
  abstract done(held: readonly Claimed[]): Promise<void>;
}

/** Secrets are SHA-256 hashes in lower-case hex. Links are deleted with their domain. */
export abstract class DomainShares {
  /**
   * Locks the domain, decides with its working links, and saves links and events together.
   * @param decide synchronous
   * @throws DomainError `domain_not_found`, also for another account's domain; whatever `decide` throws
   */
  abstract change<Change extends ShareChange>(
    domain: Pick<CustomDomain, 'id' | 'accountId'>,
    now: Date,
    decide: (domain: CustomDomain, open: readonly DomainShare[]) => Change,
  ): Promise<Change>;

  abstract list(
    domain: Pick<CustomDomain, 'id' | 'accountId'>,
    now: Date,
  ): Promise<readonly DomainShare[]>;

  /** Undefined for missing and expired links, removed domains and deleted projects. All cases take the same query. */
  abstract find(secretHash: string, now: Date): Promise<DomainShare | undefined>;
}

/** `privateKey` decrypts the key, so that only keys in use are in memory. */
export interface LoadedCertificate extends Validity {
  readonly host: string;
  readonly chain: string;
  readonly privateKey: () => string;
}

export interface EdgeChanges {
  readonly revision: bigint;
  readonly routes: readonly Route[];
  readonly removedRoutes: readonly string[];
  readonly certificates: readonly LoadedCertificate[];
  readonly removedCertificates: readonly string[];
}

/** The records that all edges serve. Revisions follow the order of commits. */
export abstract class EdgeRecords {
  /** @param revision the last known one; 0 returns everything @throws Unavailable */
  abstract changesSince(revision: bigint): Promise<EdgeChanges>;

  abstract names(): Promise<readonly string[]>;
}

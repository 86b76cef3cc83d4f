import type {
  AuthorityLedger,
  CertificateAuthority,
  CertificateOrders,
  Certificates,
  DnsChallenges,
  OwnNames,
} from './certificate-ports.ts';
import type { AdmissionFacts, DomainAllowance } from './domain/attachment/admission.ts';
import type { Attention, DomainFilter } from './domain/attachment/attention.ts';
import type {
  CustomDomain,
  CustomDomainState,
  DomainDecision,
} from './domain/attachment/custom-domain.ts';
import type { ProjectHost } from './domain/attachment/serving.ts';
import type { DomainShare, ShareChange } from './domain/attachment/share.ts';
import type { DomainChange, TimelineEntry } from './domain/attachment/timeline-entries.ts';
import type { CaUse } from './domain/certificates/ca-budget.ts';
import type { Validity } from './domain/certificates/renewal.ts';
import type { DnsFacts } from './domain/dns/facts.ts';
import type { DomainsEvent } from './domain/domains-event.ts';
import type { NameFacts, NameSettings } from './domain/names/hostname.ts';
import type { Pair, PairDecision, PairFacts } from './domain/redirects/pair.ts';
import type { Route } from './domain/redirects/redirects.ts';
import type { DomainSettings } from './domain/redirects/settings.ts';
import type { Clock, Ids } from '../kernel/ports.ts';
import type { Decision } from '../kernel/decision.ts';
import type { Claimed, Most, Queue } from '../kernel/queue.ts';

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

  /** The newest attempt at a certificate, whatever was checked since. */
  abstract newestAttempt(domainId: string): Promise<PlacedEntry | undefined>;
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
  /** The preferred one. */
  readonly authority: CertificateAuthority;
  /** Another one, which is asked when the preferred one does not answer or CAA forbids it. */
  readonly secondAuthority: CertificateAuthority | undefined;
  readonly certificates: Certificates;
  readonly orders: CertificateOrders;
  readonly dnsChallenges: DnsChallenges;
  readonly ownNames: OwnNames;
  /** The operator gave the certificate of the platform's names in files. */
  readonly hasPlatformFiles: boolean;
  readonly ledger: AuthorityLedger;
  readonly timeline: Timeline;
  readonly shares: DomainShares;
  readonly linkSecrets: LinkSecrets;
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

/** A domain that is due. */
export interface DueDomain extends Claimed {
  readonly domain: CustomDomain;
}

export interface WantedDomain {
  readonly accountId: string;
  readonly projectId: string;
  readonly host: string;
  /** `addedLately` covers the time since then. */
  readonly addedSince: Date;
}

type WithoutAllowance<Facts extends Pair<AdmissionFacts>> = Omit<Facts, keyof Pair<unknown>> &
  Pair<Omit<AdmissionFacts, 'allowance'>>;

/** Where a page of a list ended. */
export interface DomainPlace {
  readonly attention: Attention;
  readonly host: string;
  readonly id: string;
}

export interface DomainListing {
  readonly filter: DomainFilter;
  /** A part of the name in lower case; '' for all. */
  readonly text: string;
  readonly after: DomainPlace | undefined;
  readonly limit: number;
}

/** How many domains there are that need their owner, and in each state. */
export type DomainCounts = Readonly<Record<DomainFilter, number>>;

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

  /** As `add`, for two names: stores both and the settings of the project, or nothing. @returns what was decided */
  abstract addPair(
    wanted: Omit<WantedDomain, 'host'> & { readonly hosts: Pair<string> },
    decide: (facts: WithoutAllowance<PairFacts>) => PairDecision,
  ): Promise<PairDecision>;

  /** The newest attachment of a host to a project, removed or not. */
  abstract find(projectId: string, host: string): Promise<CustomDomain | undefined>;

  abstract get(id: string): Promise<CustomDomain | undefined>;

  /**
   * Those of an account whose name contains the text and that are not removed, by name.
   * @param text in lower case, not empty
   */
  abstract listNamed(
    accountId: string,
    text: string,
    limit: number,
  ): Promise<readonly CustomDomain[]>;

  /** Newest first; of the removed ones the last 20. */
  abstract list(projectId: string): Promise<readonly CustomDomain[]>;

  /** Those that need the owner first, then by name. */
  abstract listPage(projectId: string, listing: DomainListing): Promise<readonly CustomDomain[]>;

  /** Of one project. */
  abstract countListed(projectId: string): Promise<DomainCounts>;

  /**
   * A text that differs once any process has stored something that a page about these domains shows. It may also differ
   * without. Much cheaper than reading them; of a project that does not exist, it is always the same.
   * @param host only the domain of that name
   */
  abstract fingerprint(slug: string, host?: string): Promise<string>;

  /**
   * Who has proven the name, then who has proven the wildcard that covers it: the attachments that are verified or live.
   * One look-up.
   */
  abstract holdersOf(host: string): Promise<readonly CustomDomain[]>;

  /**
   * Locks the domain and the holder of its name, decides, adds what its owner is told (see `withNews`), and saves all of it
   * together: state, route, certificate, timeline, ledger, events. When it is removed, its route, certificate, challenge and keys go in the same step. Trims
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
   * As `change`, for changes that count against the limits of one authority: `decide` receives the current use. Counting and
   * deciding are one step, so only one rival gets the last place.
   */
  abstract changeCounted<Change extends DomainChange>(
    id: string,
    at: { readonly authority: string; readonly now: Date },
    decide: (domain: CustomDomain, use: CaUse) => Change,
  ): Promise<Change>;

  /** Those in that state, in the order of their ids, after `after`. */
  abstract inState(
    state: CustomDomainState,
    after: string,
    limit: number,
  ): Promise<readonly CustomDomain[]>;

  /** Of all accounts. */
  abstract countByState(): Promise<Readonly<Record<CustomDomainState, number>>>;
}

/** Custom domains with something to do. A change leaves the claim on a domain in place, and counts once it is released. */
export abstract class DueDomains implements Queue<DueDomain> {
  /** The longest overdue first. */
  abstract claim(now: Date, leaseUntil: Date, most: Most): Promise<readonly DueDomain[]>;
  abstract nextDueAt(): Promise<Date | undefined>;
  abstract prolong(held: readonly Claimed[], leaseUntil: Date): Promise<void>;
  /** Ends the leases. */
  abstract done(held: readonly Claimed[]): Promise<void>;
}

/** Links to pages about one domain each. Secrets come as SHA-256 in lower-case hex. They go with their domain. */
export abstract class DomainShares {
  /**
   * Locks the domain, decides with its links that work, and saves links and events together or not at all.
   * @param decide synchronous
   * @throws DomainError `domain_not_found`, also for a domain of another account; whatever `decide` throws
   */
  abstract change<Change extends ShareChange>(
    domain: Pick<CustomDomain, 'id' | 'accountId'>,
    now: Date,
    decide: (domain: CustomDomain, open: readonly DomainShare[]) => Change,
  ): Promise<Change>;

  /** Those of a domain that work, newest first. */
  abstract list(
    domain: Pick<CustomDomain, 'id' | 'accountId'>,
    now: Date,
  ): Promise<readonly DomainShare[]>;

  /** Undefined when there is none, it has ended, or its domain is removed: each costs the same look-up. */
  abstract find(secretHash: string, now: Date): Promise<DomainShare | undefined>;
}

/** Secrets of links, and the form in which they are stored. */
interface LinkSecrets {
  /** At least 128 bits at random, for an address. */
  readonly next: () => string;
  /** SHA-256 in lower-case hex. */
  readonly hash: (secret: string) => string;
}

/** A certificate as an edge loads it. Calling `privateKey` decrypts, so that only keys in use are in the clear. */
export interface LoadedCertificate extends Validity {
  readonly host: string;
  readonly chain: string;
  readonly privateKey: () => string;
}

/** What changed for the edges up to `revision`. */
export interface EdgeChanges {
  readonly revision: bigint;
  readonly routes: readonly Route[];
  readonly removedRoutes: readonly string[];
  readonly certificates: readonly LoadedCertificate[];
  readonly removedCertificates: readonly string[];
}

/** What all edges serve. Every change has a revision, in the order in which the changes were committed. */
export abstract class EdgeRecords {
  /** @param revision the last one that is known; 0 gives everything that is served now @throws Unavailable */
  abstract changesSince(revision: bigint): Promise<EdgeChanges>;

  abstract names(): Promise<readonly string[]>;
}

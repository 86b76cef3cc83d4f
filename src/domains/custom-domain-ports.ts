import type { Claimed, Most, Queue } from '../kernel/queue.ts';
import type { AdmissionFacts } from './domain/attachment/admission.ts';
import type { DomainChange } from './domain/attachment/change.ts';
import type {
  CustomDomain,
  CustomDomainState,
  DomainDecision,
} from './domain/attachment/custom-domain.ts';
import type { CaUse } from './domain/certificates/ca-budget.ts';
import type { Pair, PairDecision, PairFacts } from './domain/redirects/pair.ts';

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

  /** Newest first; of the removed ones the last 20. */
  abstract list(projectId: string): Promise<readonly CustomDomain[]>;

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

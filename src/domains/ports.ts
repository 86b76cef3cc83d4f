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
  DnsChallenges,
  OwnNames,
} from './certificate-ports.ts';
import type { CustomDomains } from './custom-domain-ports.ts';
import type { DomainAllowance } from './domain/attachment/admission.ts';
import type { DomainShares, LinkSecrets } from './share-ports.ts';
import type { ProjectHost } from './domain/attachment/serving.ts';
import type { TimelineEntry } from './domain/attachment/timeline.ts';
import type { DnsFacts } from './domain/dns/facts.ts';
import type { NameFacts, NameSettings } from './domain/names/name-facts.ts';
import type { DomainSettings } from './domain/redirects/settings.ts';

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

import type { Decision } from '../../../kernel/decision.ts';
import { DomainError } from '../../../kernel/domain-error.ts';
import { refusedTransition, type Transitions } from '../../../kernel/transitions.ts';
import { nextCheck } from './check-schedule.ts';
import { noCertificate, type CertificateStanding } from '../certificates/standing.ts';
import type { DnsReport } from '../dns/report.ts';
import { admitDomain, type AdmissionFacts } from './admission.ts';
import { shownHost, type Hostname } from '../names/hostname.ts';
import type { SitesErrorCode } from '../../../sites/domain/sites-error.ts';
import type { SitesEvent } from '../../../sites/domain/sites-event.ts';

/** A customer's own name, attached to a project. */
export type CustomDomain = Attachment &
  DomainStanding &
  (
    | { readonly state: 'added' }
    | { readonly state: 'verified'; readonly verifiedAt: Date }
    | {
        readonly state: 'live';
        readonly liveSince: Date;
        readonly verifiedAt: Date;
      }
    | { readonly state: 'removed'; readonly removedAt: Date; readonly reason: RemovalReason }
  );

export type DomainIn<State extends CustomDomainState> = Extract<
  CustomDomain,
  { readonly state: State }
>;

/** What only a domain in this state has. */
export type OwnFact<State extends CustomDomainState> = Exclude<
  keyof DomainIn<State>,
  keyof Attachment | keyof DomainStanding | 'state'
>;

/** One attachment of a name to a project: adding it again makes a new one. */
export interface Attachment extends Pick<Hostname, 'host' | 'registrableDomain' | 'isApex'> {
  readonly id: string;
  readonly accountId: string;
  readonly projectId: string;
  readonly unicodeHost: string;
  /** A DNS label in lower case, never used for another attachment. */
  readonly token: string;
  /** How many orders were begun. Late results of earlier ones are ignored. */
  readonly generation: number;
  readonly addedAt: Date;
}

/** What stands beside the state. */
interface DomainStanding {
  readonly dns: DnsStanding;
  readonly certificate: CertificateStanding;
}

export interface DnsStanding {
  /** The last one. */
  readonly report: DnsReport | undefined;
  readonly lastCheckedAt: Date | undefined;
  readonly nextCheckAt: Date | undefined;
  readonly lastVerifyAskedAt: Date | undefined;
}

export const customDomainStates = ['added', 'verified', 'live', 'removed'] as const;
export type CustomDomainState = (typeof customDomainStates)[number];

/** The whole lifecycle; docs/lifecycles.md is printed from this table. */
export const customDomainTransitions = {
  added: ['verified', 'removed'],
  verified: ['live', 'removed'],
  live: ['removed'],
  removed: [],
} as const satisfies Transitions<CustomDomainState>;

/** `contested`: another account proved the name. `expired`: it was not verified in time. */
export const removalReasons = ['owner', 'contested', 'expired'] as const;
export type RemovalReason = (typeof removalReasons)[number];

export type DomainDecision = Decision<CustomDomain, SitesEvent>;

/** The time, and a jitter from -1 to 1 that moves this domain's next check earlier or later. */
export interface Moment {
  readonly now: Date;
  readonly jitter: number;
}

export type DomainDraft = Pick<Attachment, 'id' | 'accountId' | 'projectId' | 'token'> & {
  readonly hostname: Hostname;
};

/** Asks neither DNS nor an authority. @throws DomainError as `admitDomain` does */
export const addDomain = (
  { hostname, ...draft }: DomainDraft,
  facts: AdmissionFacts,
  { now, jitter }: Moment,
): DomainDecision => {
  const { host, unicode: unicodeHost, registrableDomain, isApex } = hostname;
  admitDomain(shownHost(hostname), facts, now);
  const next = nextCheck(now, now, jitter);
  const domain: CustomDomain = {
    ...draft,
    ...{ host, unicodeHost, registrableDomain, isApex, generation: 0, addedAt: now },
    state: 'added',
    dns: {
      report: undefined,
      lastCheckedAt: undefined,
      nextCheckAt: next.kind === 'check' ? next.at : now,
      lastVerifyAskedAt: undefined,
    },
    certificate: { ...noCertificate },
  };
  return { state: domain, events: [{ type: 'domain_added', ...about(domain, now), host }] };
};

export const unchanged = (domain: CustomDomain): DomainDecision => ({ state: domain, events: [] });

export const about = ({ accountId, projectId, id }: Attachment, now: Date) => ({
  accountId,
  occurredAt: now,
  projectId,
  domainId: id,
});

/** Whether it needs the records of an apex. The DNS may know of a zone below the registrable domain. */
export const isAtApex = ({ isApex, dns }: Pick<CustomDomain, 'isApex' | 'dns'>): boolean =>
  dns.report?.isApex ?? isApex;

/** @throws DomainError `domain_wrong_state` */
export const refuseMove = (domain: CustomDomain, to: CustomDomainState): never => {
  const why = refusedTransition(customDomainTransitions, domain.host, domain.state, to);
  throw new DomainError<SitesErrorCode>('domain_wrong_state', why ?? `${domain.host} is ${to}.`);
};

/** Without what belongs to its state. */
export const coreOf = (domain: CustomDomain): Attachment & DomainStanding => {
  const { id, accountId, projectId, host, unicodeHost, registrableDomain, isApex } = domain;
  const { token, generation, addedAt, dns, certificate } = domain;
  return {
    ...{ id, accountId, projectId, host, unicodeHost, registrableDomain, isApex },
    ...{ token, generation, addedAt, dns, certificate },
  };
};

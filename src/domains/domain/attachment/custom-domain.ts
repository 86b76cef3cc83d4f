import {
  DomainError,
  refusedTransition,
  type Decision,
  type Transitions,
} from '../../../kernel/decision.ts';
import { minuteMs, hourMs, dayMs } from '../../../kernel/durations.ts';
import { inWords } from '../../../kernel/text.ts';
import { type DomainsErrorCode, refusal } from '../domains-error.ts';
import { shownHost, type Hostname, isWildcard } from '../names/hostname.ts';
import { resumed } from '../certificates/authorities.ts';
import {
  type CertificateStatus,
  type IssuedCertificate,
  type NoCertificate,
  planned,
  type WantedCertificate,
  type WantedWork,
  workOn,
} from '../certificates/certificate-status.ts';
import { type DnsStatus, neverChecked } from '../dns/judgement.ts';
import type { DomainsEvent } from '../domains-event.ts';

/** Adding the same name again creates a new attachment. */
export interface Attachment extends Pick<Hostname, 'host' | 'registrableDomain' | 'isApex'> {
  readonly id: string;
  readonly accountId: string;
  readonly projectId: string;
  readonly unicodeHost: string;
  /** A DNS label in lower case, never used for another attachment. */
  readonly token: string;
  readonly generation: number;
  readonly addedAt: Date;
  readonly dns: DnsStatus;
  readonly episodes: Episodes;
  readonly pause: Pause | undefined;
}

/**
 * `deleted`: its project is deleted. `restored`: its project was restored, and no check has confirmed the
 * name since.
 */
export const pauses = ['deleted', 'restored'] as const;
type Pause = (typeof pauses)[number];

export interface Episodes {
  readonly astray: Astray | undefined;
  readonly failing: FailingCertificate | undefined;
}

export interface Astray {
  readonly since: Date;
  readonly isTold: boolean;
}

export interface FailingCertificate {
  readonly toldAt: Date;
  /** Start of the certificate that has no successor; undefined for the first certificate. */
  readonly notBefore: Date | undefined;
}

/** Drops the facts of a state. New fields do not compile until they are listed here. */
const attachmentOf = (domain: Attachment): Attachment => {
  const { id, accountId, projectId, host, unicodeHost, registrableDomain, isApex } = domain;
  const { token, generation, addedAt, dns, episodes, pause } = domain;
  return {
    id,
    accountId,
    projectId,
    host,
    unicodeHost,
    registrableDomain,
    isApex,
    token,
    generation,
    addedAt,
    dns,
    episodes,
    pause,
  } satisfies Readonly<Record<keyof Attachment, unknown>>;
};

export const about = (
  { accountId, projectId, id }: Pick<Attachment, 'id' | 'accountId' | 'projectId'>,
  now: Date,
) => ({
  accountId,
  occurredAt: now,
  projectId,
  domainId: id,
});

export type Rival = Pick<Attachment, 'id' | 'accountId' | 'projectId' | 'host'>;

/** One proof notifies at most this many owners: those who added the name first. */
export const mostRivalsTold = 100;

export const contested = (rival: Rival, proven: string, now: Date): DomainsEvent => ({
  type: 'domain_contested',
  ...about(rival, now),
  host: rival.host,
  ...(proven !== rival.host && { wildcard: proven }),
});

export type CustomDomain = Attachment & StateFacts;

export const stateInWords = ({ state }: Pick<CustomDomain, 'state'>): string =>
  state === 'added' ? 'added, awaiting DNS' : state;

type StateFacts =
  /** An `added` domain with a certificate, or work on one, has proven its name before its traffic arrives. */
  | { readonly state: 'added'; readonly certificate: CertificateStatus }
  | {
      readonly state: 'verified';
      readonly verifiedAt: Date;
      readonly certificate: WantedCertificate;
    }
  | {
      readonly state: 'live';
      readonly verifiedAt: Date;
      readonly liveSince: Date;
      readonly certificate: IssuedCertificate;
    }
  | {
      readonly state: 'removed';
      readonly removedAt: Date;
      readonly reason: RemovalReason;
      readonly certificate: NoCertificate;
    };

export const customDomainStates = ['added', 'verified', 'live', 'removed'] as const;
export type CustomDomainState = (typeof customDomainStates)[number];

/** `contested`: another account proved the name. `expired`: it was not verified in time. */
export const removalReasons = ['owner', 'contested', 'expired', 'project_deleted'] as const;
export type RemovalReason = (typeof removalReasons)[number];

/** The whole lifecycle. `enter` enforces it, and docs/lifecycles.md is printed from it. */
export const customDomainTransitions = {
  added: ['verified', 'removed'],
  verified: ['live', 'removed'],
  live: ['removed'],
  removed: [],
} as const satisfies Transitions<CustomDomainState>;

export type DomainDecision = Decision<CustomDomain, DomainsEvent>;

export type DomainDraft = Pick<Attachment, 'id' | 'accountId' | 'projectId' | 'token'> & {
  readonly hostname: Hostname;
};

/** Asks neither DNS nor an authority. @throws DomainError like `admitDomain` */
export const addDomain = (
  { hostname, ...draft }: DomainDraft,
  facts: AdmissionFacts,
  { now, jitter }: Moment,
): DomainDecision => {
  const { host, unicode: unicodeHost, registrableDomain, isApex } = hostname;
  admitDomain(hostname, facts, now);
  const domain: CustomDomain = {
    ...draft,
    host,
    unicodeHost,
    registrableDomain,
    isApex,
    generation: 0,
    addedAt: now,
    dns: { ...neverChecked, nextCheckAt: nextLookAt(now, now, jitter) },
    episodes: { astray: undefined, failing: undefined },
    pause: undefined,
    state: 'added',
    certificate: { kind: 'none' },
  };
  const added = { type: 'domain_added', ...about(domain, now), host } as const;
  const { provenElsewhere } = facts;
  const isContested = provenElsewhere !== undefined;
  const told = isContested ? [contested(domain, provenElsewhere, now)] : [];
  return { state: domain, events: [added, ...told] };
};

export const becomeVerified = (domain: CustomDomain, now: Date): DomainDecision => {
  const { certificate, host } = domain;
  const verified = enter(domain, {
    state: 'verified',
    verifiedAt: now,
    certificate: { kind: 'wanted', work: workOnceVerified(domain, now) },
  });
  const told = { type: 'domain_verified', ...about(domain, now), host } as const;
  if (certificate.kind !== 'issued' || certificate.notAfter <= now)
    return { state: verified, events: [told] };
  const { state, events } = goLive(verified, certificate, now);
  return { state, events: [told, ...events] };
};

const workOnceVerified = (domain: CustomDomain, now: Date): WantedWork => {
  const work = workOn(domain);
  if (work?.step === 'ordered' || work?.step === 'waits_for_owner') return work;
  if (!work?.attempts) return planned(now);
  const mayIssue = domain.dns.report?.mayIssue ?? [];
  const again = resumed({ kind: 'wanted', work }, mayIssue, now);
  return work.step === 'waits_for_dns' ? { ...again, problem: undefined } : again;
};

export const goLive = (
  domain: DomainIn<'verified'>,
  certificate: IssuedCertificate,
  now: Date,
): DomainDecision => {
  const { host, verifiedAt } = domain;
  return {
    state: enter(domain, { state: 'live', liveSince: now, verifiedAt, certificate }),
    events: [{ type: 'domain_live', ...about(domain, now), host }],
  };
};

/** Stops serving the domain. A repetition keeps the first reason. Its target is never reused. */
export const removeDomain = (
  domain: CustomDomain,
  reason: RemovalReason,
  now: Date,
): DomainDecision => {
  if (domain.state === 'removed') return unchanged(domain);
  const unwatched = { ...domain, dns: { ...domain.dns, nextCheckAt: undefined } };
  const gone = { state: 'removed', removedAt: now, reason, certificate: { kind: 'none' } } as const;
  const { host } = domain;
  return {
    state: enter(unwatched, gone),
    events: [{ type: 'domain_removed', ...about(domain, now), host, reason }],
  };
};

/** The only way to another state. @throws DomainError `domain_wrong_state` */
const enter = <Next extends StateFacts>(domain: CustomDomain, next: Next): Attachment & Next => {
  const reachable: readonly CustomDomainState[] = customDomainTransitions[domain.state];
  if (!reachable.includes(next.state)) refuseMove(domain, next.state);
  return { ...attachmentOf(domain), ...next };
};

export const refuseMove = (domain: CustomDomain, to: CustomDomainState): never => {
  const why = refusedTransition(customDomainTransitions, domain.host, domain.state, to);
  throw refusal('domain_wrong_state', why ?? `${domain.host} is ${to}.`);
};

export const unchanged = (domain: CustomDomain): DomainDecision => ({ state: domain, events: [] });

export type DomainIn<State extends CustomDomainState> = Extract<
  CustomDomain,
  { readonly state: State }
>;

export type OwnFact<State extends CustomDomainState> = Exclude<
  keyof DomainIn<State>,
  keyof Attachment | 'state' | 'certificate'
>;

type NextCheck = { readonly kind: 'check'; readonly at: Date } | { readonly kind: 'expired' };

export const longestWaitForDnsMs = 30 * dayMs;

const steps = (from: number, to: number, step: number): readonly number[] =>
  Array.from({ length: Math.round((to - from) / step) }, (_, n) => from + (n + 1) * step);

const offsets: readonly number[] = [
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * minuteMs),
  ...steps(0, 48 * hourMs, hourMs),
  ...steps(48 * hourMs, longestWaitForDnsMs, dayMs),
];

const largestJitter = 0.1;

/** `jitter` from -1 to 1 moves the next check earlier or later. */
export interface Moment {
  readonly now: Date;
  readonly jitter: number;
}

export const nextCheck = (since: Date, now: Date, jitter: number): NextCheck => {
  // If the clock was set back, the schedule starts over.
  const elapsed = Math.max(0, now.getTime() - since.getTime()) || 0;
  if (elapsed >= longestWaitForDnsMs) return { kind: 'expired' };
  const offset = offsets.find((at, n) => at - elapsed > (at - (offsets[n - 1] ?? 0)) / 2);
  const wait =
    offset === undefined ? longestWaitForDnsMs - elapsed : spread(offset - elapsed, jitter);
  return { kind: 'check', at: new Date(now.getTime() + wait) };
};

export const nextLookAt = (since: Date, now: Date, jitter: number): Date => {
  const next = nextCheck(since, now, jitter);
  return next.kind === 'check' ? next.at : new Date(now.getTime() + dayMs);
};

/** Checks of live domains become hourly in the end, so that owners soon learn about problems. */
export const nextLookAtLive = (since: Date, { now, jitter }: Moment): Date => {
  const hourly = new Date(now.getTime() + spread(hourMs, jitter));
  const next = nextLookAt(since, now, jitter);
  return next < hourly ? next : hourly;
};

const firstWaitMs = 4 * minuteMs;

/** 4, 12, 28 and 60 minutes after the first such check, then hourly. @param lastCheckedAt if it showed the same */
export const nextLookAtAstray = (lastCheckedAt: Date | undefined, now: Date): Date => {
  const waited = lastCheckedAt ? now.getTime() - lastCheckedAt.getTime() : 0;
  return new Date(now.getTime() + Math.min(hourMs, Math.max(firstWaitMs, 2 * waited)));
};

const spread = (wait: number, jitter: number): number =>
  wait * (1 + largestJitter * (Math.min(1, Math.max(-1, jitter)) || 0));

export const addsWindowMs = 60 * 60_000;

export interface DomainAllowance {
  readonly plan: string;
  readonly domains: number;
  /** Counts removed domains, because each may have used a certificate. */
  readonly domainsAddedPerHour: number;
  readonly hasWildcards: boolean;
}

export interface AdmissionFacts {
  readonly allowance: DomainAllowance;
  readonly current: number;
  readonly addedLately: readonly Date[];
  readonly hasSucceededDeploy: boolean;
  readonly provenElsewhere: string | undefined;
  readonly attachedTo:
    { readonly name: string; readonly isThisOne: boolean; readonly isDeleted: boolean } | undefined;
}

/**
 * @throws DomainError `plan_upgrade_required`, `no_successful_deploy`, `domain_taken`, `domain_limit_reached`,
 *   `domains_added_too_fast`
 */
const admitDomain = (hostname: Hostname, facts: AdmissionFacts, now: Date): void => {
  const refusal = whyNotAdmitted(hostname, facts, now);
  if (refusal) throw new DomainError<DomainsErrorCode>(...refusal);
};

type Refusal = readonly [code: DomainsErrorCode, message: string];

export const whyNotAdmitted = (
  hostname: Hostname,
  facts: AdmissionFacts,
  now: Date,
): Refusal | undefined => refusalOf(hostname, facts) ?? tooFast(facts, now);

const refusalOf = (
  hostname: Hostname,
  { allowance, current, hasSucceededDeploy, attachedTo }: AdmissionFacts,
): Refusal | undefined => {
  const { plan, domains, hasWildcards } = allowance;
  if (domains === 0) {
    return ['plan_upgrade_required', 'Custom domains need the plan Pro or above.'];
  }
  if (isWildcard(hostname.host) && !hasWildcards) {
    return [
      'plan_upgrade_required',
      'Wildcard domains need the plan Business or above. On this plan, add each name separately.',
    ];
  }
  if (!hasSucceededDeploy) {
    return ['no_successful_deploy', 'Deploy the project first: there is nothing to serve yet.'];
  }
  if (attachedTo) return ['domain_taken', alreadyAttached(shownHost(hostname), attachedTo)];
  if (current >= domains) {
    return [
      'domain_limit_reached',
      `The plan ${plan} has room for ${domains} domains. Remove one or ask the operator for a larger plan.`,
    ];
  }
  return undefined;
};

const tooFast = (
  { allowance: { plan, domainsAddedPerHour: most }, addedLately }: AdmissionFacts,
  now: Date,
): Refusal | undefined => {
  const at = addedLately[most - 1];
  if (!at) return undefined;
  // The wait is at most one window, even if the clock was set back.
  const wait = addsWindowMs - Math.max(0, now.getTime() - at.getTime());
  if (wait <= 0) return undefined;
  const limit = `On the plan ${plan} you can add ${String(most)} domains in an hour, and those that were removed count too.`;
  return ['domains_added_too_fast', `${limit} You can add the next one in ${inWords(wait)}.`];
};

const alreadyAttached = (
  host: string,
  { name, isThisOne, isDeleted }: NonNullable<AdmissionFacts['attachedTo']>,
): string => {
  if (isThisOne) return `${host} is in the list of this project already.`;
  return isDeleted
    ? `Your deleted project "${name}" has ${host}. Restore it and remove the domain there, or wait until the project is removed.`
    : `Your project "${name}" has ${host} already. Remove it there before you add it here.`;
};

import { workOn, type IssuedCertificate, nextStepAt } from '../certificates/certificate-status.ts';
import { type DnsProblemCode, isBlocking, type DnsProblem } from '../dns/problem.ts';
import type { DnsReport } from '../dns/report.ts';
import {
  type CustomDomain,
  customDomainStates,
  about,
  type Astray,
  type Attachment,
  type DomainDecision,
  type FailingCertificate,
} from './custom-domain.ts';
import { isDelegated, isReady, isAttached, isDeleted, whyAstray } from './serving.ts';
import { preflightAt } from '../certificates/renewal.ts';
import type { DomainsEvent, Trouble } from '../domains-event.ts';
import { minuteMs, dayMs } from '../../../kernel/durations.ts';
import { earliest } from '../../../kernel/ports.ts';

export type DueWork = 'check' | 'certificate';

export const dueAt = (domain: CustomDomain): Date | undefined => {
  if (!hasWork(domain)) return undefined;
  return earliest([checkAt(domain), attemptAt(domain), newsAt(domain)]);
};

export const dueWork = (domain: CustomDomain, now: Date): DueWork | undefined => {
  if (!hasWork(domain)) return undefined;
  if (isReached(attemptAt(domain), now)) return 'certificate';
  return isReached(checkAt(domain), now) ? 'check' : undefined;
};

const hasWork = (domain: CustomDomain): boolean => isAttached(domain) && !isDeleted(domain);

export const hasNews = (domain: CustomDomain, now: Date): boolean => isReached(newsAt(domain), now);

const checkAt = (domain: CustomDomain): Date | undefined =>
  earliest([domain.dns.nextCheckAt, preflightOf(domain)]);

const preflightOf = (domain: CustomDomain): Date | undefined => {
  if (domain.state !== 'live') return undefined;
  const { work } = domain.certificate;
  if (work.step !== 'planned' || work.attempts) return undefined;
  const at = preflightAt(domain.certificate, work.at);
  const { lastCheckedAt } = domain.dns;
  return lastCheckedAt && lastCheckedAt >= at ? undefined : at;
};

export const attemptAt = (domain: CustomDomain): Date | undefined => {
  const work = workOn(domain);
  return work && nextStepAt(work);
};

const isReached = (time: Date | undefined, now: Date): boolean => time !== undefined && time <= now;

// Notices about lasting problems. An episode lasts from the first sign of a problem to its end, and is stored with
// the domain.

/** DNS fails briefly, so the owner is notified only if a later check shows the same. */
const toldAfterMs = 60 * minuteMs;
const toldAgainAfterMs = 3 * dayMs;
const failedAttempts = 3;

/** Adds notices about problems that begin, last or end with the change. Removed domains get none. */
export const withNews = <Change extends DomainDecision>(change: Change, now: Date): Change => {
  const { state: domain } = change;
  if (!hasWork(domain)) return change;
  const traffic = lookAtTraffic(domain, now);
  const certificate = lookAtCertificate(domain, now);
  const episodes = { astray: traffic.episode, failing: certificate.episode };
  const events = [...change.events, ...traffic.events, ...certificate.events];
  return { ...change, state: { ...domain, episodes }, events };
};

export const newsAt = (domain: CustomDomain): Date | undefined => {
  if (!hasWork(domain) || isAwaited(domain)) return undefined;
  const { failing } = domain.episodes;
  if (failing) return againAt(failing);
  const validity = validityOf(domain);
  return validity && overdueFrom(validity);
};

interface Look<Episode> {
  readonly episode: Episode | undefined;
  readonly events: readonly DomainsEvent[];
}

const lookAtTraffic = (domain: CustomDomain, now: Date): Look<Astray> => {
  const { report, lastCheckedAt: checkedAt = now } = domain.dns;
  const why = domain.state === 'live' ? whyAstray(report) : undefined;
  const { astray: episode } = domain.episodes;
  if (!why) {
    const recovered = { type: 'domain_recovered', ...named(domain, now) } as const;
    return { episode: undefined, events: episode?.isTold ? [recovered] : [] };
  }
  if (episode?.isTold) return { episode, events: [] };
  const since = episode?.since ?? checkedAt;
  const isTold = checkedAt.getTime() - since.getTime() >= toldAfterMs;
  const found = { type: 'domain_unhealthy', ...named(domain, now), ...troubleOf(why) } as const;
  return { episode: { since, isTold }, events: isTold ? [found] : [] };
};

const lookAtCertificate = (domain: CustomDomain, now: Date): Look<FailingCertificate> => {
  const untroubled = { episode: undefined, events: [] };
  if (isAwaited(domain)) return untroubled;
  const { failing: episode } = domain.episodes;
  const validity = validityOf(domain);
  if (!episode) return isFailing(domain, now) ? tell(domain, now) : untroubled;
  if (validity && isNewer(validity, episode) && !isFailing(domain, now)) {
    const expiresAt = validity.notAfter.toISOString();
    const recovered = { type: 'certificate_recovered', ...named(domain, now), expiresAt } as const;
    return { episode: undefined, events: [recovered] };
  }
  return now < againAt(episode) ? { episode, events: [] } : tell(domain, now);
};

const tell = (domain: CustomDomain, now: Date): Look<FailingCertificate> => {
  const validity = validityOf(domain);
  const problem = workOn(domain)?.problem;
  const expiresAt = validity?.notAfter.toISOString() ?? '';
  const failing = { type: 'certificate_failing', ...named(domain, now), expiresAt } as const;
  return {
    episode: { toldAt: now, notBefore: validity?.notBefore },
    events: [{ ...failing, ...(problem ? troubleOf(problem) : unknown) }],
  };
};

/** No visitors arrive yet and there is no certificate to lose, so nobody depends on one. */
const isAwaited = (domain: CustomDomain): boolean =>
  domain.state === 'added' && !domain.dns.report?.pointsHere && !isReady(domain);

const isFailing = (domain: CustomDomain, now: Date): boolean => {
  const validity = validityOf(domain);
  const failed = workOn(domain)?.attempts?.failed ?? 0;
  return failed >= failedAttempts || (validity !== undefined && now >= overdueFrom(validity));
};

const validityOf = ({ certificate }: CustomDomain): IssuedCertificate | undefined =>
  certificate.kind === 'issued' ? certificate : undefined;

/** A fifth of the lifetime, at most 7 days: the renewal is long overdue then. */
const overdueFrom = ({ notBefore, notAfter }: IssuedCertificate): Date => {
  const life = notAfter.getTime() - notBefore.getTime();
  return new Date(notAfter.getTime() - Math.min(life / 5, 7 * dayMs));
};

const isNewer = ({ notBefore }: IssuedCertificate, episode: FailingCertificate): boolean =>
  episode.notBefore === undefined || notBefore > episode.notBefore;

const againAt = ({ toldAt }: FailingCertificate): Date =>
  new Date(toldAt.getTime() + toldAgainAfterMs);

const named = (domain: Attachment, now: Date) => ({ ...about(domain, now), host: domain.host });

const troubleOf = ({ code, actor, fix }: DnsProblem): Trouble => ({ problem: code, actor, fix });

const unknown: Trouble = { problem: '', actor: 'us', fix: '' };

/**
 * How much a domain needs its owner, the most urgent first. Stored with the domain, because lists begin
 * with the most urgent ones.
 */
export const attentions = ['broken', 'wanted', 'none', 'gone'] as const;
export type Attention = (typeof attentions)[number];

export const domainFilters = ['attached', 'owner', ...customDomainStates] as const;
export type DomainFilter = (typeof domainFilters)[number];

/** `broken`: live, but about to stop. `wanted`: it continues once its owner has acted. */
export const attentionOf = (domain: CustomDomain): Attention => {
  switch (domain.state) {
    case 'added':
      return awaitsOwner(domain) ? 'wanted' : 'none';
    case 'verified':
      return waitsForOwner(domain) ? 'wanted' : 'none';
    case 'live': {
      const { report } = domain.dns;
      const problem = report?.problems.find(isBlocking) ?? domain.certificate.work.problem;
      return problem?.actor === 'customer' ? 'broken' : 'none';
    }
    case 'removed':
      return 'gone';
  }
};

/**
 * Orders domains of the same attention: the time at which a live domain stops, or stopped, and otherwise since when the
 * domain waits. All others get the same time, so they are sorted by name.
 */
export const attentionAt = (domain: CustomDomain): Date => {
  switch (attentionOf(domain)) {
    case 'broken':
      return domain.episodes.astray?.since ?? validityOf(domain)?.notAfter ?? domain.addedAt;
    case 'wanted':
      return domain.addedAt;
    case 'none':
    case 'gone':
      return anyTime;
  }
};

const anyTime = new Date(0);

const awaitsOwner = (domain: CustomDomain): boolean => {
  if (workOn(domain) && isDelegated(domain)) return isReady(domain) || waitsForOwner(domain);
  const { report } = domain.dns;
  return !report || (report.problems.some(isBlocking) && !isSpreading(report));
};

const waitsForOwner = (domain: CustomDomain): boolean => {
  const work = workOn(domain);
  return work?.step === 'waits_for_owner' || work?.problem?.actor === 'customer';
};

const unreadable: ReadonlySet<DnsProblemCode> = new Set(['dns_lookup_failed', 'dnssec_bogus']);

export const isSpreading = ({ problems, resolvers }: DnsReport): boolean => {
  const problem = problems.find(isBlocking);
  return (
    problem !== undefined && !unreadable.has(problem.code) && resolvers.some(({ agrees }) => agrees)
  );
};

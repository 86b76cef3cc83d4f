import type { DomainChange, TimelineEntry } from './timeline-entries.ts';
import {
  about,
  type Attachment,
  type CustomDomain,
  type DomainDecision,
  type DomainIn,
  goLive,
  unchanged,
} from './custom-domain.ts';
import { isDeleted, isReady, issuersFor, readiness } from './serving.ts';
import { type Choice, turnAt } from '../certificates/authorities.ts';
import {
  type AuthorityFailureReason,
  type IssuedCertificate,
  latest,
  planned,
  planRenewal,
  type RenewalAnswer,
  type RenewalWork,
  restedAt,
  type WantedCertificate,
  workOn,
} from '../certificates/certificate-status.ts';
import {
  type CertificateTerms,
  type CertificateWork,
  choiceOf,
  postponed,
  type Refusal,
  subjectUnder,
  type WorkChange,
  type WorkOutcome,
} from '../certificates/certificate-work.ts';
import { allowingLine } from '../dns/caa.ts';
import { isAtApex } from '../dns/judgement.ts';
import { dnsProblem, type DnsProblem, type DnsProblemCode } from '../dns/problem.ts';
import { delegationNameOf } from '../dns/records.ts';
import {
  chooseMethod,
  methodBeforeTraffic,
  type ValidationMethod,
  validationMethods,
} from '../dns/validation.ts';
import { nameInText, isWildcard } from '../names/hostname.ts';

/** A domain with a certificate or work on one. It holds the name, which only one domain at a time can. */
export type Certified =
  | (DomainIn<'added'> & { readonly certificate: WantedCertificate | IssuedCertificate })
  | DomainIn<'verified'>
  | DomainIn<'live'>;

export const isCertified = (domain: CustomDomain): domain is Certified =>
  domain.certificate.kind !== 'none';

export const provenAt = (domain: Certified): Date =>
  domain.state === 'added' ? (domain.dns.lastCheckedAt ?? domain.addedAt) : domain.verifiedAt;

const keyOf = (attachmentId: string): string => `domain:${attachmentId}`;

export const orderSubject = ({ id, generation }: Pick<Attachment, 'id' | 'generation'>): string =>
  subjectUnder(keyOf(id), generation);

export const subjectsOf = (attachmentId: string): string => `${keyOf(attachmentId)}:`;

export const attachmentIn = (subject: string): string | undefined =>
  /^domain:([^:]+):/.exec(subject)?.[1];

export const workOf = (domain: CustomDomain): CertificateWork | undefined =>
  isCertified(domain) && !isDeleted(domain) ? certifying(domain) : undefined;

const certifying = (domain: Certified): CertificateWork => {
  const { generation, certificate } = domain;
  return { generation, certificate, terms: termsOf(domain) };
};

const termsOf = (domain: Certified): CertificateTerms => {
  const { host, accountId, registrableDomain, dns, token } = domain;
  return {
    key: keyOf(domain.id),
    host,
    payer: { accountId, registrableDomain },
    isOurs: false,
    kinds: { first: 'new', later: 'renewal', counted: 'counted' },
    mayIssue: dns.report ? issuersFor(domain, dns.report) : [],
    methodAt: (authority) => methodOf(domain, authority),
    label: dns.report?.validation?.label ?? token,
    problemOf: (refusal) => problemOf(refusal, domain),
  };
};

/** Chosen once for each order. Traffic that may go elsewhere proves nothing. */
const methodOf = (
  { state, host, dns, certificate }: Certified,
  authority: string,
): ValidationMethod =>
  state === 'added'
    ? methodBeforeTraffic
    : chooseMethod({
        host,
        authority,
        validation: dns.report?.validation,
        leadsHere: dns.report?.verifiable ?? false,
        unproven: certificate.work.attempts?.unproven,
      });

export const withWork = (domain: Certified, work: RenewalWork): Certified => {
  switch (domain.state) {
    case 'added':
      return { ...domain, certificate: { ...domain.certificate, work } };
    case 'verified':
      return { ...domain, certificate: { ...domain.certificate, work } };
    case 'live':
      return { ...domain, certificate: { ...domain.certificate, work } };
  }
};

export const domainChoice = (domain: Certified): Choice => choiceOf(certifying(domain));

export const earliestAttempt = (domain: CustomDomain): Date | undefined => {
  const { nextCheckAt } = domain.dns;
  if (!isCertified(domain) || !nextCheckAt) return undefined;
  const { certificate } = domain;
  return certificate.work.step === 'waits_for_dns'
    ? turnAt(domainChoice(domain), latest(nextCheckAt, restedAt(certificate)))
    : undefined;
};

export const postponeAttempt = (domain: CustomDomain, until: Date): CustomDomain =>
  isCertified(domain)
    ? withCertificate(domain, postponed(certifying(domain), until), until).state
    : domain;

type Renewed = DomainIn<'live'> | (DomainIn<'added'> & { readonly certificate: IssuedCertificate });

const isRenewed = (domain: CustomDomain): domain is Renewed =>
  (domain.state === 'live' || isReady(domain)) && !isDeleted(domain);

export const renewedCertificate = (domain: CustomDomain): IssuedCertificate | undefined =>
  isRenewed(domain) ? domain.certificate : undefined;

export const planDomainRenewal = (domain: CustomDomain, answer: RenewalAnswer, now: Date) => {
  if (!isRenewed(domain)) return { ...unchanged(domain), verdict: 'unchanged' as const };
  const { certificate, verdict } = planRenewal(domain.certificate, answer, now);
  return { ...unchanged({ ...domain, certificate }), verdict };
};

export const domainAfter = (
  domain: CustomDomain,
  { work, outcome, ...stored }: WorkChange,
  now: Date,
): DomainChange & Pick<WorkChange, 'outcome'> => {
  const after =
    work && isCertified(domain) ? withCertificate(domain, work, now) : unchanged(domain);
  const cause = causeOf(outcome, now);
  return {
    state: after.state,
    events: [...certificateEvents(after.state, outcome, now), ...after.events],
    ...(cause && { cause }),
    ...stored,
    outcome,
  };
};

const withCertificate = (
  before: Certified,
  { generation, certificate }: CertificateWork,
  now: Date,
): DomainDecision => {
  const domain = { ...before, generation };
  switch (domain.state) {
    case 'added': {
      const state = { ...domain, certificate };
      return { state, events: readiness(domain, state, now) };
    }
    case 'verified':
      return certificate.kind === 'issued'
        ? goLive(domain, certificate, now)
        : unchanged({ ...domain, certificate });
    case 'live':
      return unchanged(certificate.kind === 'issued' ? { ...domain, certificate } : domain);
  }
};

const certificateEvents = (
  domain: CustomDomain,
  outcome: WorkOutcome,
  now: Date,
): DomainDecision['events'] => {
  const details = about(domain, now);
  switch (outcome.kind) {
    case 'begun':
      return [{ type: 'certificate_ordered', ...details, generation: domain.generation }];
    case 'issued': {
      const type = outcome.isRenewal ? 'certificate_renewed' : 'certificate_issued';
      return [{ type, ...details, notAfter: outcome.notAfter.toISOString() }];
    }
    case 'failed': {
      const { problem, attempts } = workOn(domain) ?? {};
      if (outcome.isLate || !problem || !attempts) return [];
      const failed = { problem: problem.code, attempt: attempts.failed };
      const isRenewal = domain.certificate.kind === 'issued';
      return [{ type: 'certificate_failed', ...details, ...failed, isRenewal }];
    }
    case 'unchanged':
    case 'processing':
    case 'unanswered':
    case 'counted':
    case 'held_up':
    case 'left':
    case 'too_late':
      return [];
  }
};

const causeOf = (outcome: WorkOutcome, occurredAt: Date): TimelineEntry | undefined => {
  const details = attemptIn(outcome);
  return details && { kind: 'attempt', occurredAt, details };
};

const attemptIn = (outcome: WorkOutcome): TimelineEntry['details'] | undefined => {
  switch (outcome.kind) {
    case 'held_up': {
      const { reason, nextAt } = outcome.hold;
      return { outcome: 'postponed', budget: reason, until: nextAt };
    }
    case 'unanswered':
      return { outcome: 'unanswered' };
    case 'left':
      return { outcome: 'left', authority: outcome.authority };
    case 'issued':
    case 'too_late': {
      const { kind, notAfter, authority } = outcome;
      const word = kind === 'issued' ? 'issued' : 'came too late, destroyed';
      return { outcome: word, notAfter, authority };
    }
    case 'failed':
      return { outcome: 'failed', ...outcome.failure, authority: outcome.authority };
    case 'unchanged':
    case 'begun':
    case 'processing':
    case 'counted':
      return undefined;
  }
};

/** Visitors see no error while the next certificate is ordered. No account ever sees the key. */
export const takenOver = (
  claimant: Certified,
  { certificate }: CustomDomain,
  now: Date,
): DomainDecision => {
  const isThere = certificate.kind === 'issued' && certificate.notAfter > now;
  if (!isThere || claimant.certificate.kind === 'issued') return unchanged(claimant);
  const { work } = certificate;
  const kept: IssuedCertificate = {
    ...certificate,
    work: planned(work.step === 'planned' ? work.at : now),
  };
  if (claimant.state === 'verified') return goLive(claimant, kept, now);
  const state: CustomDomain = { ...claimant, certificate: kept };
  return { state, events: readiness(claimant, state, now) };
};

const codes: Readonly<Record<AuthorityFailureReason, DnsProblemCode>> = {
  order_gone: 'ca_unavailable',
  rate_limited: 'ca_rate_limited',
  unavailable: 'ca_unavailable',
  rejected_name: 'ca_rejected_name',
  caa: 'caa_forbids_issuer',
  dns: 'dns_lookup_failed',
  challenge: 'challenge_unreachable',
};

export const problemOf = (
  { failure: { reason, detail }, issuers }: Refusal,
  domain: CustomDomain,
): DnsProblem =>
  reason === 'caa' && issuers.length > 0
    ? dnsProblem('caa_forbids_issuer', { seen: detail, ...lineToAdd(domain, issuers) })
    : dnsProblem(codes[reason], {
        seen: detail,
        wanted: `a certificate for ${domain.host}`,
        ...(isByDns(domain) ? byDns(reason, domain) : {}),
      });

const isByDns = (domain: CustomDomain): boolean => {
  const work = workOn(domain);
  return work?.step === 'ordered' && validationMethods[work.method].needsDelegation;
};

const byDns = (
  reason: AuthorityFailureReason,
  { host, dns }: CustomDomain,
): Partial<Pick<DnsProblem, 'actor' | 'fix'>> => {
  if (reason === 'challenge') return { fix: delegationFix(host) };
  if (reason !== 'dns') return {};
  return dns.report?.validation?.delegated
    ? { actor: 'us', fix: oursFix(host) }
    : { fix: delegationFix(host) };
};

const oursFix = (host: string): string =>
  `The certificate authority could not look up where ${delegationNameOf(host)} leads: to our own name servers. Our resolvers found ` +
  'your record, so there is nothing for you to do. We will fix this and retry automatically.';

const delegationFix = (host: string): string =>
  `The certificate authority did not find our answer where ${delegationNameOf(host)} leads. Check that this name has the ` +
  'CNAME record shown and no other record, at all of your name servers.';

/** We check CAA before each order, so our resolvers saw no record that forbids it. */
const disagreement =
  'The certificate authority found a CAA record that forbids the certificate, but our own resolvers found none. ' +
  'It may have changed recently, or the name servers of the domain give different answers.';

/** Only the lowest level with CAA records counts (RFC 8659, section 3), so the new record overrides higher ones. */
const lineToAdd = (
  domain: CustomDomain,
  issuers: readonly string[],
): Pick<DnsProblem, 'wanted' | 'fix'> => {
  const { host } = domain;
  const policy = { issuers, isWildcard: isWildcard(host) };
  if (isAtApex(domain)) {
    const fix = `${disagreement} Add the record shown at the DNS provider of ${nameInText(domain)}.`;
    return { wanted: allowingLine(host, policy), fix };
  }
  // A name with a CNAME cannot have a CAA record (RFC 1034, section 3.6.2).
  const parent = host.slice(host.indexOf('.') + 1);
  const why = policy.isWildcard ? '' : ': a name with a CNAME cannot have a CAA record';
  const fix = `${disagreement} Add the record shown. It belongs to ${parent}${why}.`;
  return { wanted: allowingLine(parent, policy), fix };
};

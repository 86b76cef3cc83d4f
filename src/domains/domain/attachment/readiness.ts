import { nextStepAt, planned, workOn, type IssuedCertificate } from '../certificates/standing.ts';
import type { DnsReport } from '../dns/report.ts';
import { methodAt, needsTraffic } from '../dns/validation.ts';
import { about, type Attachment } from './attachment.ts';
import type { CustomDomain, DomainDecision, DomainIn } from './custom-domain.ts';

// A domain whose challenge name leads to us gets its certificate before its traffic does, while it is still `added`.

/** Whether the challenge name leads to this attachment, as the last check that could tell showed. */
export const isDelegated = ({ dns }: Pick<Attachment, 'dns'>): boolean =>
  dns.report?.validation?.delegated ?? false;

type Ready = DomainIn<'added'> & { readonly certificate: IssuedCertificate };

/** It has its certificate, and its name is proven, as the last check showed: it is served as soon as visitors come. */
export const isReady = (domain: CustomDomain): domain is Ready =>
  domain.state === 'added' && domain.certificate.kind === 'issued' && isDelegated(domain);

/** Its certificate may have ended since the last check. */
export const isReadyAt = (domain: CustomDomain, now: Date): domain is Ready =>
  isReady(domain) && domain.certificate.notAfter > now;

/** Its certificate is there, or comes without its owner. */
export const isPrepared = (domain: CustomDomain, now: Date): boolean => {
  if (isReadyAt(domain, now)) return true;
  const work = workOn(domain);
  return isDelegated(domain) && work !== undefined && nextStepAt(work) !== undefined;
};

/** Where its certificate may be ordered. While its traffic may lead elsewhere, only those help that validate by DNS. */
export const issuersFor = (
  { state, host }: Pick<CustomDomain, 'state' | 'host'>,
  { mayIssue, validation, problems }: DnsReport,
): readonly string[] => {
  if (state !== 'added') return mayIssue;
  const isBroken = problems.some(({ code }) => code === 'dnssec_bogus');
  if (isBroken || !validation?.delegated) return [];
  return mayIssue.filter((authority) => !needsTraffic(methodAt({ host, validation }, authority)));
};

/** Whether it cannot be ready before its traffic comes, because CAA lets all who may issue only ask over HTTP. */
export const isOnlyOverHttp = (domain: CustomDomain): boolean => {
  const { report } = domain.dns;
  if (!report || domain.state !== 'added' || !isDelegated(domain)) return false;
  const { mayIssue, validation } = report;
  const { host } = domain;
  return (
    mayIssue.length > 0 &&
    mayIssue.every((one) => needsTraffic(methodAt({ host, validation }, one)))
  );
};

/**
 * Its certificate is due as soon as the delegation proves the name, unless another account has it verified or live.
 * @param holder of the name
 */
export const prepared = (
  domain: CustomDomain,
  holder: CustomDomain | undefined,
  now: Date,
): CustomDomain => {
  const { report } = domain.dns;
  if (domain.state !== 'added' || domain.certificate.kind !== 'none' || !report) return domain;
  const isFree = holder === undefined || holder.state === 'added';
  if (!isFree || !report.ownershipProven || issuersFor(domain, report).length === 0) return domain;
  return { ...domain, certificate: { kind: 'wanted', work: planned(now) } };
};

/** Another account proves the name, so this one waits for its DNS as if it had never been proven. */
export const unprepared = (domain: CustomDomain, now: Date): DomainDecision => {
  if (domain.state !== 'added') return { state: domain, events: [] };
  const state = { ...domain, certificate: { kind: 'none' } } as const;
  return { state, events: readiness(domain, state, now) };
};

/** What a change tells of whether the domain is ready. */
export const readiness = (
  before: CustomDomain,
  after: CustomDomain,
  now: Date,
): DomainDecision['events'] => {
  const is = isReady(after);
  if (after.state !== 'added' || isReady(before) === is) return [];
  const type = is ? 'domain_prepared' : 'domain_unprepared';
  return [{ type, ...about(after, now), host: after.host }];
};

import {
  about,
  type Attachment,
  type CustomDomain,
  type DomainDecision,
  type DomainIn,
  type OwnFact,
} from './custom-domain.ts';
import {
  type IssuedCertificate,
  nextStepAt,
  planned,
  workOn,
} from '../certificates/certificate-status.ts';
import { type DnsProblem, type DnsProblemCode, isBlocking } from '../dns/problem.ts';
import type { DnsReport } from '../dns/report.ts';
import { methodAt, needsTraffic } from '../dns/validation.ts';
import { covers, isWildcard } from '../names/hostname.ts';

type Live = DomainIn<'live'>;

/**
 * Whether each fact of a live domain lets visitors in; all of them have to. A new fact does not compile until it is
 * decided here.
 */
const admits: Readonly<Record<OwnFact<'live'>, Admits>> = {
  liveSince: () => true,
  verifiedAt: () => true,
};
type Admits = (domain: Live) => boolean;

/** Whether visitors come here under this name, and get the site or a redirect. Everything that shows this asks here. */
export const isOpen = (domain: CustomDomain): domain is Live =>
  domain.state === 'live' &&
  domain.pause === undefined &&
  Object.values(admits).every((lets) => lets(domain));

/** Whether it has an address that a browser can go to: a wildcard is no name of its own. */
export const isVisited = (domain: CustomDomain): boolean =>
  isOpen(domain) && !isWildcard(domain.host);

/**
 * Whether edges answer for it. They do as soon as it is ready, because the resolver of a visitor may learn before ours
 * do that the name leads here.
 */
export const isServed = (domain: CustomDomain): boolean =>
  isOpen(domain) || (isReady(domain) && domain.pause === undefined);

/** Its project is deleted: nothing is done for it, and nothing is told of it. */
export const isDeleted = ({ pause }: Pick<Attachment, 'pause'>): boolean => pause === 'deleted';

/** As it follows from its project. Once that is restored, the domain is checked before it is served. */
export const following = (
  domain: CustomDomain,
  isProjectDeleted: boolean,
  now: Date,
): CustomDomain => {
  if (domain.state === 'removed' || isDeleted(domain) === isProjectDeleted) return domain;
  if (isProjectDeleted) return { ...domain, pause: 'deleted' };
  return { ...domain, pause: 'restored', dns: { ...domain.dns, nextCheckAt: now } };
};

/** Back in service after a check, unless that shows that a live name leads elsewhere. */
export const backInService = <Domain extends CustomDomain>(
  domain: Domain,
  report: DnsReport,
): Domain =>
  domain.pause === 'restored' && !(domain.state === 'live' && whyAstray(report))
    ? { ...domain, pause: undefined }
    : domain;

/** A custom domain as the routes and the settings of its project see it. */
export interface ProjectHost {
  readonly host: string;
  readonly unicodeHost: string;
  readonly isServed: boolean;
  /** Undefined while visitors do not come here; see `isOpen`. */
  readonly liveSince: Date | undefined;
}

/** Those of a project, without the removed ones. */
export const projectHostsOf = (domains: readonly CustomDomain[]): readonly ProjectHost[] =>
  domains.filter(isAttached).map((domain) => {
    const { host, unicodeHost } = domain;
    const liveSince = isOpen(domain) ? domain.liveSince : undefined;
    return { host, unicodeHost, isServed: isServed(domain), liveSince };
  });

/** Whether other routes may follow from a domain after a change. */
export const changesRoutes = (from: CustomDomain, to: CustomDomain): boolean =>
  awaitsCertificate(from) !== awaitsCertificate(to) ||
  JSON.stringify(projectHostsOf([from])) !== JSON.stringify(projectHostsOf([to]));

/** It belongs to its project and takes a place in the plan. */
export const isAttached = ({ state }: Pick<CustomDomain, 'state'>): boolean => state !== 'removed';

/** Visitors of a verified name come here, but its certificate is not there yet. */
export const awaitsCertificate = ({ state }: Pick<CustomDomain, 'state'>): boolean =>
  state === 'verified';

/** Whether the wildcard of another account must not answer for this name, although it covers it. */
export const isWithheldFrom = (
  domain: Pick<CustomDomain, 'state' | 'host' | 'accountId'>,
  wildcard: Pick<CustomDomain, 'host' | 'accountId'>,
): boolean =>
  awaitsCertificate(domain) &&
  covers(wildcard.host, domain.host) &&
  wildcard.accountId !== domain.accountId;

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

/** Whether a live domain works for visitors, and will keep working. */
export type DomainHealth =
  | { readonly kind: 'healthy' }
  /** It is served, but something will end that. */
  | { readonly kind: 'at_risk'; readonly problem: DnsProblem }
  | { readonly kind: 'certificate_expired'; readonly problem: DnsProblem | undefined };

/** @returns undefined for a domain that is not live */
export const healthOf = (domain: CustomDomain, now: Date): DomainHealth | undefined => {
  if (domain.state !== 'live' || isDeleted(domain)) return undefined;
  const { work, notAfter } = domain.certificate;
  const problem = domain.dns.report?.problems.find(isBlocking) ?? work.problem;
  if (notAfter <= now) return { kind: 'certificate_expired', problem };
  return problem ? { kind: 'at_risk', problem } : { kind: 'healthy' };
};

/** Whether visitors do not reach the site because of the problem. A new one does not compile until it is decided here. */
const leadsElsewhere: Readonly<Record<DnsProblemCode, boolean>> = {
  dns_not_found: true,
  cname_missing: true,
  cname_wrong_target: true,
  conflicting_a: true,
  conflicting_aaaa: true,
  apex_needs_alias: true,
  alias_wrong_address: true,
  dns_lookup_failed: true,
  dnssec_bogus: true,
  cname_loop: true,
  ownership_txt_missing: false,
  ownership_txt_mismatch: false,
  caa_forbids_issuer: false,
  delegation_missing: false,
  dns_answer_too_large: false,
  challenge_unreachable: false,
  propagation_incomplete: false,
  proxied: false,
  wildcard_dns: false,
  cname_chain: false,
  ca_rate_limited: false,
  ca_unavailable: false,
  ca_rejected_name: false,
  name_reserved: false,
  public_suffix: false,
  ip_literal: false,
  wildcard_unsupported: false,
  name_too_long: false,
};

/** Why the name leads elsewhere; undefined if it does not, or was never checked. */
export const whyAstray = (report: DnsReport | undefined): DnsProblem | undefined =>
  report?.problems.find((problem) => isBlocking(problem) && leadsElsewhere[problem.code]);

/** What is wrong even while the name may lead elsewhere; anything else where nothing is. */
export const whyNotProven = (report: DnsReport): DnsProblem | undefined => {
  const blocking = report.problems.filter(isBlocking);
  return blocking.find(({ code }) => !leadsElsewhere[code]) ?? blocking[0];
};

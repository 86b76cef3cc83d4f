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

/** Whether each fact of a live domain allows visitors. New facts do not compile until they are listed here. */
const admits: Readonly<Record<OwnFact<'live'>, Admits>> = {
  liveSince: () => true,
  verifiedAt: () => true,
};
type Admits = (domain: Live) => boolean;

/** Whether visitors reach the site or a redirect under this name. The only definition of this. */
export const isOpen = (domain: CustomDomain): domain is Live =>
  domain.state === 'live' &&
  domain.pause === undefined &&
  Object.values(admits).every((lets) => lets(domain));

export const isVisited = (domain: CustomDomain): boolean =>
  isOpen(domain) && !isWildcard(domain.host);

/** Includes ready domains, because a visitor's resolver may see the new DNS before ours. */
export const isServed = (domain: CustomDomain): boolean =>
  isOpen(domain) || (isReady(domain) && domain.pause === undefined);

export const isDeleted = ({ pause }: Pick<Attachment, 'pause'>): boolean => pause === 'deleted';

/** Follows the project's deletion or restoration. After a restoration the domain is checked before it is served. */
export const following = (
  domain: CustomDomain,
  isProjectDeleted: boolean,
  now: Date,
): CustomDomain => {
  if (domain.state === 'removed' || isDeleted(domain) === isProjectDeleted) return domain;
  if (isProjectDeleted) return { ...domain, pause: 'deleted' };
  return { ...domain, pause: 'restored', dns: { ...domain.dns, nextCheckAt: now } };
};

export const backInService = <Domain extends CustomDomain>(
  domain: Domain,
  report: DnsReport,
): Domain =>
  domain.pause === 'restored' && !(domain.state === 'live' && whyAstray(report))
    ? { ...domain, pause: undefined }
    : domain;

export interface ProjectHost {
  readonly host: string;
  readonly unicodeHost: string;
  readonly isServed: boolean;
  /** Undefined while visitors do not reach it; see `isOpen`. */
  readonly liveSince: Date | undefined;
}

export const projectHostsOf = (domains: readonly CustomDomain[]): readonly ProjectHost[] =>
  domains.filter(isAttached).map((domain) => {
    const { host, unicodeHost } = domain;
    const liveSince = isOpen(domain) ? domain.liveSince : undefined;
    return { host, unicodeHost, isServed: isServed(domain), liveSince };
  });

export const changesRoutes = (from: CustomDomain, to: CustomDomain): boolean =>
  awaitsCertificate(from) !== awaitsCertificate(to) ||
  JSON.stringify(projectHostsOf([from])) !== JSON.stringify(projectHostsOf([to]));

export const isAttached = ({ state }: Pick<CustomDomain, 'state'>): boolean => state !== 'removed';

export const awaitsCertificate = ({ state }: Pick<CustomDomain, 'state'>): boolean =>
  state === 'verified';

export const isWithheldFrom = (
  domain: Pick<CustomDomain, 'state' | 'host' | 'accountId'>,
  wildcard: Pick<CustomDomain, 'host' | 'accountId'>,
): boolean =>
  awaitsCertificate(domain) &&
  covers(wildcard.host, domain.host) &&
  wildcard.accountId !== domain.accountId;

// A delegated domain can get its certificate before its traffic arrives, while it is `added`.

/** According to the last check that could tell. */
export const isDelegated = ({ dns }: Pick<Attachment, 'dns'>): boolean =>
  dns.report?.validation?.delegated ?? false;

type Ready = DomainIn<'added'> & { readonly certificate: IssuedCertificate };

export const isReady = (domain: CustomDomain): domain is Ready =>
  domain.state === 'added' && domain.certificate.kind === 'issued' && isDelegated(domain);

export const isReadyAt = (domain: CustomDomain, now: Date): domain is Ready =>
  isReady(domain) && domain.certificate.notAfter > now;

export const isPrepared = (domain: CustomDomain, now: Date): boolean => {
  if (isReadyAt(domain, now)) return true;
  const work = workOn(domain);
  return isDelegated(domain) && work !== undefined && nextStepAt(work) !== undefined;
};

export const issuersFor = (
  { state, host }: Pick<CustomDomain, 'state' | 'host'>,
  { mayIssue, validation, problems }: DnsReport,
): readonly string[] => {
  if (state !== 'added') return mayIssue;
  const isBroken = problems.some(({ code }) => code === 'dnssec_bogus');
  if (isBroken || !validation?.delegated) return [];
  return mayIssue.filter((authority) => !needsTraffic(methodAt({ host, validation }, authority)));
};

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

export const unprepared = (domain: CustomDomain, now: Date): DomainDecision => {
  if (domain.state !== 'added') return { state: domain, events: [] };
  const state = { ...domain, certificate: { kind: 'none' } } as const;
  return { state, events: readiness(domain, state, now) };
};

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

export type DomainHealth =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'at_risk'; readonly problem: DnsProblem }
  | { readonly kind: 'certificate_expired'; readonly problem: DnsProblem | undefined };

export const healthOf = (domain: CustomDomain, now: Date): DomainHealth | undefined => {
  if (domain.state !== 'live' || isDeleted(domain)) return undefined;
  const { work, notAfter } = domain.certificate;
  const problem = domain.dns.report?.problems.find(isBlocking) ?? work.problem;
  if (notAfter <= now) return { kind: 'certificate_expired', problem };
  return problem ? { kind: 'at_risk', problem } : { kind: 'healthy' };
};

/** Whether the problem keeps visitors from the site. New problems do not compile until they are listed here. */
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

export const leadsAstray = (problem: DnsProblem): boolean =>
  isBlocking(problem) && leadsElsewhere[problem.code];

export const whyAstray = (report: DnsReport | undefined): DnsProblem | undefined =>
  report?.problems.find(leadsAstray);

export const whyNotProven = (report: DnsReport): DnsProblem | undefined => {
  const blocking = report.problems.filter(isBlocking);
  return blocking.find(({ code }) => !leadsElsewhere[code]) ?? blocking[0];
};

import { type CaaPolicy, type Issuers, judgeIssuers } from './caa.ts';
import {
  type Delegated,
  judgeDelegation,
  judgeDnssec,
  judgeOwner,
  methodFor,
  methodNames,
  needsTraffic,
  type Validation,
  type ValidationMethod,
} from './validation.ts';
import { type DnsFacts, type DnsZone, type ResolverFacts, shortened } from './facts.ts';
import { judgeOwnership, judgeRoute, type RouteFinding } from './route.ts';
import {
  agreementOf,
  dnsProblem,
  type DnsProblem,
  type Finding,
  isBlocking,
  isMajority,
  problemsIn,
} from './problem.ts';
import { cnameTarget } from './records.ts';
import { isWildcard } from '../names/hostname.ts';

export interface DnsExpectation {
  readonly token: string;
  readonly platformHost: string;
  readonly platformAddresses: readonly string[];
  /** According to the Public Suffix List; the DNS may reveal further apexes. */
  readonly isApex: boolean;
  readonly isContested: boolean;
  readonly acmeDnsZone?: string | undefined;
  readonly sharedToken?: string | undefined;
  readonly lastValidation?: Validation | undefined;
  readonly caa: readonly CaaPolicy[];
}

export interface DnsReport {
  readonly checkedAt: Date;
  readonly probe?: string | undefined;
  readonly problems: readonly DnsProblem[];
  readonly resolvers: readonly ResolverSummary[];
  readonly isApex: boolean;
  readonly ownershipRequired: boolean;
  readonly ownershipProven: boolean;
  readonly textSeen?: boolean | undefined;
  readonly validation?: Validation | undefined;
  readonly challengeZone?: string | undefined;
  readonly zone?: DnsZone | undefined;
  /** False behind a proxy, which hides the target. */
  readonly pointsHere: boolean;
  readonly mayIssue: readonly string[];
  /** Nothing blocks it: the domain can be verified and a certificate ordered. */
  readonly verifiable: boolean;
}

export interface ResolverSummary {
  readonly resolver: string;
  readonly tookMs: number;
  readonly seen: string;
  readonly ttl: number | undefined;
  readonly agrees: boolean;
}

/** More than half of the resolvers must agree; a failed lookup does not agree. */
export const reportOn = (facts: DnsFacts, expectation: DnsExpectation): DnsReport => {
  const { host, probe, resolvers, checkedAt } = facts;
  const judged = judge(facts, expectation);
  const { isApex, hasWildcard, signed, routes, owned, issuance, mayIssue, validation } = judged;
  const ownershipRequired =
    isWildcard(host) || isApex || hasWildcard || expectation.isContested || provesNothing(routes);
  const questions = ownershipRequired ? [routes, owned, issuance] : [routes, issuance];
  const problems = [...dnsProblemsIn(signed, questions), ...warningsOf(routes, hasWildcard)];
  return {
    checkedAt,
    ...(probe !== undefined && { probe }),
    problems,
    resolvers: resolvers.map((one, at) =>
      summaryOf(
        one,
        [signed, ...questions].flatMap((all) => all[at] ?? []),
      ),
    ),
    isApex,
    ownershipRequired,
    ownershipProven: agreementOf(owned) === 'right',
    ...zoneIn(resolvers),
    ...(validation && { validation, challengeZone: expectation.acmeDnsZone }),
    ...(validation && !isWildcard(host) && { textSeen: isTextSeen(facts, expectation) }),
    pointsHere: isMajority(routes.filter((one) => isVia(one, here)).length, routes.length),
    mayIssue,
    verifiable: !problems.some(isBlocking),
  };
};

const judge = ({ host, resolvers }: DnsFacts, expectation: DnsExpectation) => {
  const { token, platformHost } = expectation;
  const most = (holds: (one: ResolverFacts) => boolean) =>
    isMajority(resolvers.filter(holds).length, resolvers.length);
  const isPlain = !isWildcard(host);
  const isApex = expectation.isApex || (isPlain && most(({ isZoneApex }) => isZoneApex));
  const route = { ...expectation, target: cnameTarget(token, platformHost), isApex };
  return {
    isApex,
    signed: signedAt(resolvers),
    hasWildcard: isPlain && most(({ sibling }) => sibling.kind === 'records'),
    routes: resolvers.map((one) => judgeRoute(one, route)),
    owned: resolvers.map((one) => judgeOwner(one, { ...expectation, host })),
    ...judgeValidation({ host, resolvers }, expectation),
  };
};

const signedAt = (resolvers: readonly ResolverFacts[]): readonly (Finding | undefined)[] => {
  const signed = resolvers.map(judgeDnssec);
  return signed.some((one) => one?.kind === 'wrong') ? signed : [];
};

/** Broken DNSSEC makes all lookups fail, so those failures are not reported. */
const dnsProblemsIn = (
  signed: readonly (Finding | undefined)[],
  questions: readonly (readonly Finding[])[],
): readonly DnsProblem[] => {
  const told = signed.filter((one) => one !== undefined);
  const problems = problemsIn(told.length > 0 ? [told, ...questions] : questions);
  return problems.some(({ code }) => code === 'dnssec_bogus')
    ? problems.filter(({ code }) => code !== 'dns_lookup_failed')
    : problems;
};

const isTextSeen = ({ host, resolvers }: DnsFacts, { token }: DnsExpectation): boolean =>
  agreementOf(resolvers.map((one) => judgeOwnership(one, { host, token }))) === 'right';

const mostNameServers = 16;

const zoneIn = (resolvers: readonly ResolverFacts[]): Pick<DnsReport, 'zone'> => {
  const zone = resolvers.find((one) => one.zone)?.zone;
  if (!zone) return {};
  const { name, nameServers } = zone;
  return { zone: { name, nameServers: nameServers.slice(0, mostNameServers) } };
};

const here = ['target', 'platform_host', 'address'];

const isVia = (route: RouteFinding, ways: readonly string[]): boolean =>
  route.kind === 'right' && ways.includes(route.via);

/** The name points to us, but not to the attachment's own target, so it does not prove ownership. */
const provesNothing = (routes: readonly RouteFinding[]): boolean =>
  agreementOf(routes) === 'right' &&
  !isMajority(routes.filter((one) => isVia(one, ['target'])).length, routes.length);

const warningsOf = (
  routes: readonly RouteFinding[],
  hasWildcard: boolean,
): readonly DnsProblem[] => {
  const proxied = routes.find((one) => isVia(one, ['proxy']));
  const chained = routes.find((one) => one.kind === 'right' && one.isChained);
  const wanted = 'the record shown and nothing in between';
  const beside = { seen: 'a made-up name beside it exists', wanted: 'the TXT record shown' };
  return [
    ...(proxied ? [dnsProblem('proxied', { seen: proxied.seen, wanted })] : []),
    ...(chained ? [dnsProblem('cname_chain', { seen: chained.seen, wanted })] : []),
    ...(hasWildcard ? [dnsProblem('wildcard_dns', beside)] : []),
  ];
};

const summaryOf = (
  { resolver, tookMs }: ResolverFacts,
  findings: readonly Finding[],
): ResolverSummary => ({
  resolver,
  tookMs,
  seen: findings.map(({ seen }) => shortened(seen)).join('; '),
  ttl: findings[0]?.ttl,
  agrees: findings.every(({ kind }) => kind === 'right'),
});

type Asked = Pick<DnsFacts, 'host' | 'resolvers'>;

interface Expected extends Omit<Delegated, 'host'> {
  readonly lastValidation?: Validation | undefined;
  readonly caa: readonly CaaPolicy[];
}

const judgeValidation = (
  asked: Asked,
  expectation: Expected,
): Issuers & { readonly validation?: Validation } => {
  const { caa, acmeDnsZone, lastValidation } = expectation;
  if (acmeDnsZone === undefined) return judgeIssuers(asked, caa);
  const name = { ...expectation, host: asked.host };
  const seen = asked.resolvers.map((one) => judgeDelegation(one, name));
  const agreement = agreementOf(seen);
  const delegated =
    agreement === 'unknown' ? (lastValidation?.delegated ?? false) : agreement === 'right';
  const judged = judgeBy(asked, expectation, delegated);
  const isOpen = agreement === 'unknown' && !delegated;
  if (isOpen) return unlessDelegated(judged, judgeBy(asked, expectation, true), seen);
  const label = agreement === 'unknown' ? lastValidation?.label : sharedLabel(asked, name);
  const isShared = delegated && label !== undefined;
  return isShared ? { ...judged, validation: { ...judged.validation, label } } : judged;
};

const sharedLabel = ({ resolvers }: Asked, { sharedToken, ...own }: Delegated) =>
  agreementOf(resolvers.map((one) => judgeDelegation(one, own))) === 'right'
    ? undefined
    : sharedToken;

type Judged = Issuers & { readonly validation: Validation };

const overHttp = methodNames.filter(needsTraffic);

const judgeBy = (asked: Asked, { caa }: Expected, delegated: boolean): Judged => {
  const name = { host: asked.host, isDelegated: delegated };
  const mayBe = (policy: CaaPolicy, method: ValidationMethod) =>
    agreementOf(judgeIssuers(asked, [{ ...policy, method }]).issuance) !== 'wrong';
  const policies = caa.map((policy) => ({
    ...policy,
    method: methodFor(name, (method) => mayBe(policy, method)),
  }));
  const issuers = judgeIssuers(asked, policies);
  const [preferred = policies[0]] = policies.filter(({ authority }) =>
    issuers.mayIssue.includes(authority),
  );
  const method = preferred?.method ?? methodFor(name, () => true);
  const others = policies.filter((one) => one.method !== method);
  const exceptions = Object.fromEntries(others.map((one) => [one.authority, one.method]));
  const onlyByDns = policies
    .filter((one) => !needsTraffic(one.method) && !overHttp.some((method) => mayBe(one, method)))
    .map(({ authority }) => authority);
  const validation = {
    delegated,
    method,
    ...(others.length > 0 && { exceptions }),
    ...(onlyByDns.length > 0 && { onlyByDns }),
  };
  return { ...issuers, validation };
};

/** CAA is not reported as forbidding if only an unknown delegation decides. */
const unlessDelegated = (without: Judged, delegated: Judged, seen: readonly Finding[]): Judged => {
  const isForbidden = ({ issuance }: Judged) => agreementOf(issuance) === 'wrong';
  if (!isForbidden(without) || isForbidden(delegated)) return without;
  const issuance = seen.map((one, at): Finding => {
    const { issuance: by } = one.kind === 'right' ? delegated : without;
    return one.kind === 'failed' ? one : (by[at] ?? one);
  });
  return { ...without, issuance };
};

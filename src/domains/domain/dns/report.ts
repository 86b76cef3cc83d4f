import type { CaaPolicy } from './caa-issue.ts';
import type { DnsFacts, ResolverFacts } from './facts.ts';
import { agreementOf, isMajority, problemsIn, type Finding } from './findings.ts';
import { judgeIssuance } from './issuance.ts';
import { judgeOwnership } from './ownership.ts';
import { dnsProblem, isBlocking, type DnsProblem } from './problem.ts';
import { cnameTarget } from './records.ts';
import { shortened } from './shortened.ts';
import { judgeRoute, type RouteFinding } from './route.ts';

export interface DnsExpectation {
  readonly token: string;
  readonly platformHost: string;
  /** What an apex has to resolve to. */
  readonly platformAddresses: readonly string[];
  /** According to the Public Suffix List; the DNS facts can reveal further zone apexes. */
  readonly isApex: boolean;
  /** Another attachment has proven the name before. */
  readonly isContested: boolean;
  readonly caa: CaaPolicy;
}

export interface DnsReport {
  readonly checkedAt: Date;
  /** The worst first. */
  readonly problems: readonly DnsProblem[];
  readonly resolvers: readonly ResolverSummary[];
  readonly isApex: boolean;
  readonly ownershipRequired: boolean;
  readonly ownershipProven: boolean;
  /** Also false behind a proxy, which hides it. */
  readonly pointsHere: boolean;
  /** Nothing blocks it: the domain can be verified and a certificate ordered. */
  readonly verifiable: boolean;
}

export interface ResolverSummary {
  readonly resolver: string;
  readonly tookMs: number;
  readonly seen: string;
  /** Seconds. */
  readonly ttl: number | undefined;
  /** Whether every record is correct for this resolver. */
  readonly agrees: boolean;
}

/** Judges by majority: more than half of the resolvers must agree, and a failed lookup counts for neither side. */
export const reportOn = (facts: DnsFacts, expectation: DnsExpectation): DnsReport => {
  const { resolvers, checkedAt } = facts;
  const { isApex, hasWildcard, routes, owned, issuance } = judge(facts, expectation);
  const ownershipRequired =
    isApex || hasWildcard || expectation.isContested || provesNothing(routes);
  const questions = ownershipRequired ? [routes, owned, issuance] : [routes, issuance];
  const problems = [...problemsIn(questions), ...warningsOf(routes, hasWildcard)];
  return {
    checkedAt,
    problems,
    resolvers: resolvers.map((one, at) =>
      summaryOf(
        one,
        questions.flatMap((all) => all[at] ?? []),
      ),
    ),
    isApex,
    ownershipRequired,
    ownershipProven: agreementOf(owned) === 'right',
    pointsHere: isMajority(routes.filter((one) => isVia(one, here)).length, routes.length),
    verifiable: !problems.some(isBlocking),
  };
};

const judge = ({ host, resolvers }: DnsFacts, expectation: DnsExpectation) => {
  const { token, platformHost, caa } = expectation;
  const most = (holds: (one: ResolverFacts) => boolean) =>
    isMajority(resolvers.filter(holds).length, resolvers.length);
  const isApex = expectation.isApex || most(({ isZoneApex }) => isZoneApex);
  const route = { ...expectation, target: cnameTarget(token, platformHost), isApex };
  return {
    isApex,
    hasWildcard: most(({ sibling }) => sibling.kind === 'records'),
    routes: resolvers.map((one) => judgeRoute(one, route)),
    owned: resolvers.map((one) => judgeOwnership(one, { host, token })),
    issuance: resolvers.map((one) => judgeIssuance(one, host, caa)),
  };
};

const here = ['target', 'platform_host', 'address'];

const isVia = (route: RouteFinding, ways: readonly string[]): boolean =>
  route.kind === 'right' && ways.includes(route.via);

/** The name leads to us, but not to the attachment's own target, so it does not prove ownership. */
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

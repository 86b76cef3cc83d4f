import { isWithin } from '../names/hostname.ts';
import {
  addressesOf,
  addressesSeen,
  type DnsFailure,
  firstThose,
  isSameAddress,
  isUnspecified,
  listed,
  longestTtl,
  recordsOf,
  type ResolverFacts,
  shortened,
} from './facts.ts';
import { dnsProblem, type DnsProblemCode, type Finding, unanswered } from './problem.ts';
import { isProxyAddress, isProxyName } from './provider.ts';
import { challengeNameOf, ownershipValueOf } from './records.ts';

export interface RouteExpectation {
  readonly target: string;
  readonly platformHost: string;
  readonly platformAddresses: readonly string[];
  readonly isApex: boolean;
}

export type RouteFinding = Finding<{
  readonly via: 'target' | 'platform_host' | 'address' | 'proxy';
  readonly isChained: boolean;
}>;

type RightRoute = Extract<RouteFinding, { readonly kind: 'right' }>;

type Found = readonly [code: DnsProblemCode, seen: string];

export const judgeRoute = (facts: ResolverFacts, wanted: RouteExpectation): RouteFinding => {
  switch (facts.cname.kind) {
    case 'records':
      return judgeCname(facts, facts.cname.records, wanted);
    case 'none':
      return wanted.isApex ? judgeApex(facts, wanted) : judgeWithoutCname(facts, wanted);
    case 'no_such_name':
      return wrong(facts, wanted, [['dns_not_found', 'no such name']]);
    case 'failed':
      if (wanted.isApex) return judgeApex(facts, wanted);
      return notAnswered(facts, wanted, ['CNAME', facts.cname.reason]);
  }
};

const judgeCname = (
  facts: ResolverFacts,
  targets: readonly string[],
  wanted: RouteExpectation,
): RouteFinding => {
  if (targets.length > 1) {
    return leadsElsewhere(facts, wanted, `CNAME ${listed(targets, ' and ')}`);
  }
  const { chain } = facts;
  const names = chain.names.length > 0 ? chain.names : targets;
  const seen = `CNAME ${listed(names, ' → ')}`;
  const ours = names.find((name) => isWithin(name, wanted.platformHost));
  if (ours === wanted.target || ours === wanted.platformHost) {
    const foreign = foreignAddresses(facts, wanted);
    if (foreign.length > 0) return wrong(facts, wanted, foreign);
    const via = ours === wanted.target ? 'target' : 'platform_host';
    return { ...right(facts, seen, via), isChained: names[0] !== ours };
  }
  if (ours) return leadsElsewhere(facts, wanted, seen);
  if (chain.end === 'failed') return failed(facts, `${seen} → no answer`);
  if (names.some(isProxyName)) return right(facts, seen, 'proxy');
  return chain.end === 'reached'
    ? leadsElsewhere(facts, wanted, seen)
    : wrong(facts, wanted, [['cname_loop', seen]]);
};

/** An apex has SOA and NS records, so it cannot have a CNAME (RFC 1034, section 3.6.2). */
const leadsElsewhere = (
  facts: ResolverFacts,
  wanted: RouteExpectation,
  seen: string,
): RouteFinding =>
  wrong(facts, wanted, [[wanted.isApex ? 'apex_needs_alias' : 'cname_wrong_target', seen]]);

const foreignAddresses = (
  { a, aaaa }: ResolverFacts,
  { platformAddresses }: RouteExpectation,
): readonly Found[] => {
  const known = platformAddresses.filter((address) => !isUnspecified(address));
  if (known.length === 0) return [];
  const isForeign = (address: string) => !known.some((ours) => isSameAddress(address, ours));
  return conflicts(recordsOf(a).filter(isForeign), recordsOf(aaaa).filter(isForeign));
};

const judgeWithoutCname = (facts: ResolverFacts, wanted: RouteExpectation): RouteFinding => {
  if (areProxied(addressesOf(facts))) return right(facts, addressesSeen(facts), 'proxy');
  const found = conflicts(recordsOf(facts.a), recordsOf(facts.aaaa));
  return wrong(facts, wanted, found.length > 0 ? found : [['cname_missing', 'no CNAME']]);
};

const judgeApex = (facts: ResolverFacts, wanted: RouteExpectation): RouteFinding => {
  const { a, aaaa } = facts;
  const foreign = addressesOf(facts).filter(
    (address) => !wanted.platformAddresses.some((ours) => isSameAddress(address, ours)),
  );
  if (areProxied(foreign)) return right(facts, addressesSeen(facts), 'proxy');
  if (foreign.length > 0) return wrong(facts, wanted, [['alias_wrong_address', listed(foreign)]]);
  if (a.kind === 'failed') return notAnswered(facts, wanted, ['A', a.reason]);
  if (aaaa.kind === 'failed') return notAnswered(facts, wanted, ['AAAA', aaaa.reason]);
  if (addressesOf(facts).length > 0) return right(facts, addressesSeen(facts), 'address');
  const isAbsent = a.kind === 'no_such_name';
  const found: Found = isAbsent
    ? ['dns_not_found', 'no such name']
    : ['apex_needs_alias', 'no address'];
  return wrong(facts, wanted, [found]);
};

const conflicts = (a: readonly string[], aaaa: readonly string[]): readonly Found[] => [
  ...(a.length > 0 ? [['conflicting_a', `A ${listed(a)}`] as const] : []),
  ...(aaaa.length > 0 ? [['conflicting_aaaa', `AAAA ${listed(aaaa)}`] as const] : []),
];

const right = (
  { resolver, cname, a, aaaa }: ResolverFacts,
  seen: string,
  via: RightRoute['via'],
): RightRoute => {
  const ttl = longestTtl(cname.kind === 'records' ? [cname] : [a, aaaa]);
  return { kind: 'right', resolver, seen, ttl, via, isChained: false };
};

const wrong = (
  { resolver, cname, a, aaaa }: ResolverFacts,
  { isApex, target }: RouteExpectation,
  found: readonly Found[],
): RouteFinding => {
  const wanted = `${isApex ? 'ALIAS' : 'CNAME'} ${target}`;
  const problems = found.map(([code, seen]) => dnsProblem(code, { seen, wanted }));
  const seen = found.map(([, one]) => one).join('; ');
  return { kind: 'wrong', resolver, seen, ttl: longestTtl([cname, a, aaaa]), problems };
};

const notAnswered = (
  facts: ResolverFacts,
  wanted: RouteExpectation,
  [type, reason]: readonly [type: string, reason: DnsFailure],
): RouteFinding =>
  reason === 'too_large'
    ? wrong(facts, wanted, [['dns_answer_too_large', `${type}: too large`]])
    : failed(facts, `${type}: ${reason}`);

const failed = ({ resolver }: ResolverFacts, seen: string): RouteFinding => ({
  kind: 'failed',
  resolver,
  seen,
  ttl: undefined,
});

const areProxied = (addresses: readonly string[]): boolean =>
  addresses.length > 0 && addresses.every(isProxyAddress);

/** Our value, with room for quotes and blanks that editors add. */
const longestText = 1024;

const isValue = (text: string, value: string): boolean =>
  text.length <= longestText && text.trim() === value;

export const judgeOwnership = (
  { resolver, txt }: Pick<ResolverFacts, 'resolver' | 'txt'>,
  { host, token }: { readonly host: string; readonly token: string },
): Finding => {
  const value = ownershipValueOf(token);
  const wanted = `${challengeNameOf(host)} TXT "${value}"`;
  switch (txt.kind) {
    case 'failed':
      return unanswered(resolver, txt.reason, 'TXT');
    case 'none':
    case 'no_such_name': {
      const seen = 'no TXT record';
      const problems = [dnsProblem('ownership_txt_missing', { seen, wanted })];
      return { kind: 'wrong', resolver, seen, ttl: undefined, problems };
    }
    case 'records': {
      const { ttl, records } = txt;
      const isOurs = (text: string) => isValue(text, value);
      const texts = firstThose(records, isOurs).map((text) => JSON.stringify(shortened(text)));
      const seen = `TXT ${listed(texts)}`;
      if (records.some(isOurs)) return { kind: 'right', resolver, seen, ttl };
      const problems = [dnsProblem('ownership_txt_mismatch', { seen, wanted })];
      return { kind: 'wrong', resolver, seen, ttl, problems };
    }
  }
};

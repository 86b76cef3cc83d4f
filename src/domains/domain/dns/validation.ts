import { isWildcard } from '../names/hostname.ts';
import { type ExtendedError, listed, type ResolverFacts } from './facts.ts';
import { type Finding, unanswered, dnsProblem, type DnsProblem } from './problem.ts';
import { judgeOwnership } from './route.ts';
import { delegationNameOf, delegationTarget } from './records.ts';

interface MethodRules {
  readonly provesWildcards: boolean;
  readonly needsDelegation: boolean;
  /** Visitors, and so the authority, must reach us. */
  readonly needsTraffic: boolean;
}

/** RFC 8555, section 8. DNS also works behind proxies, and only it can prove a wildcard (section 8.4). */
export const validationMethods = {
  'dns-01': { provesWildcards: true, needsDelegation: true, needsTraffic: false },
  'http-01': { provesWildcards: false, needsDelegation: false, needsTraffic: true },
} as const satisfies Readonly<Record<string, MethodRules>>;

export type ValidationMethod = keyof typeof validationMethods;

export const methodNames = Object.keys(
  validationMethods,
) as readonly ValidationMethod[] as readonly [ValidationMethod, ...ValidationMethod[]];

export const methodBeforeTraffic =
  methodNames.find((method) => !validationMethods[method].needsTraffic) ?? methodNames[0];

export const needsTraffic = (method: ValidationMethod): boolean =>
  validationMethods[method].needsTraffic;

export interface Validation {
  readonly delegated: boolean;
  readonly label?: string | undefined;
  readonly method: ValidationMethod;
  readonly exceptions?: Readonly<Record<string, ValidationMethod>> | undefined;
  readonly onlyByDns?: readonly string[] | undefined;
}

interface Name {
  readonly host: string;
  readonly isDelegated: boolean;
}

export const methodsFor = ({
  host,
  isDelegated,
}: Name): readonly [ValidationMethod, ...ValidationMethod[]] => {
  const [first = methodNames[0], ...others] = methodNames.filter((method) => {
    const { provesWildcards, needsDelegation } = validationMethods[method];
    return isWildcard(host) ? provesWildcards : isDelegated || !needsDelegation;
  });
  return [first, ...others];
};

/** @param allows whether CAA may allow a method (RFC 8657, section 4) */
export const methodFor = (
  name: Name,
  allows: (method: ValidationMethod) => boolean,
): ValidationMethod => {
  const methods = methodsFor(name);
  return methods.find(allows) ?? methods[0];
};

interface Validated {
  readonly host: string;
  readonly validation: Validation | undefined;
}

export const methodAt = ({ host, validation }: Validated, authority: string): ValidationMethod => {
  const [otherwise] = methodsFor({ host, isDelegated: false });
  if (isWildcard(host)) return otherwise;
  return validation?.exceptions?.[authority] ?? validation?.method ?? otherwise;
};

interface MethodFacts extends Validated {
  readonly authority: string;
  readonly leadsHere: boolean;
  readonly unproven: ValidationMethod | undefined;
}

/** After a failed DNS proof, the next order uses HTTP if possible, then DNS again. */
export const chooseMethod = (facts: MethodFacts): ValidationMethod => {
  const { host, authority, validation, leadsHere, unproven } = facts;
  const method = methodAt(facts, authority);
  if (method !== unproven || !leadsHere || validation?.onlyByDns?.includes(authority))
    return method;
  const others = methodsFor({ host, isDelegated: true }).filter(needsTraffic);
  return needsTraffic(method) ? method : (others[0] ?? method);
};

export interface Delegated {
  readonly host: string;
  readonly token: string;
  readonly acmeDnsZone?: string | undefined;
  readonly sharedToken?: string | undefined;
}

/**
 * Whether the delegation points to the attachment, or to the wildcard that shares it, which proves it only together
 * with the TXT record.
 */
export const judgeDelegation = (one: ResolverFacts, name: Delegated): Finding => {
  const { resolver, delegation = { kind: 'none' } } = one;
  const { host, token, acmeDnsZone: zone, sharedToken } = name;
  const seen = `CNAME at ${delegationNameOf(host)}`;
  if (delegation.kind === 'failed') return unanswered(resolver, delegation.reason, 'CNAME', seen);
  const ttl = delegation.kind === 'records' ? delegation.ttl : undefined;
  const names = delegation.kind === 'records' ? delegation.records : [];
  const leadsTo = (to: string | undefined) => {
    const target = zone === undefined || to === undefined ? undefined : delegationTarget(to, zone);
    return names.length > 0 && names.every((name) => name === target);
  };
  if (leadsTo(token)) return { kind: 'right', resolver, seen, ttl };
  if (leadsTo(sharedToken)) return judgeOwnership(one, name);
  return { kind: 'wrong', resolver, seen: `no ${seen} to us`, ttl, problems: lackOf(name, names) };
};

/** A wildcard has no other validation method. @param names where the challenge name points instead */
const lackOf = (
  { host, token, acmeDnsZone: zone }: Delegated,
  names: readonly string[],
): readonly DnsProblem[] => {
  if (!isWildcard(host)) return [];
  const at = delegationNameOf(host);
  const seen = names.length > 0 ? `${at} CNAME ${listed(names, ' and ')}` : `no CNAME at ${at}`;
  if (zone === undefined)
    return [dnsProblem('wildcard_unsupported', { seen, wanted: 'no wildcard' })];
  const wanted = `${at} CNAME ${delegationTarget(token, zone)}`;
  return [dnsProblem('delegation_missing', { seen, wanted })];
};

/** Either record proves the attachment. While one is unknown, the lack of the other proves nothing. */
export const judgeOwner = (one: ResolverFacts, name: Delegated): Finding => {
  if (isWildcard(name.host)) return judgeDelegation(one, name);
  const byText = judgeOwnership(one, name);
  if (name.acmeDnsZone === undefined) return byText;
  const byDelegation = judgeDelegation(one, name);
  if (byDelegation.kind === 'right') return byDelegation;
  return byText.kind === 'wrong' && byDelegation.kind === 'failed' ? byDelegation : byText;
};

export const judgeDnssec = (facts: ResolverFacts): Finding | undefined => {
  const { resolver, cname, unchecked } = facts;
  const heard = { resolver, ttl: undefined };
  if (unchecked && isBroken(unchecked.errors)) {
    const told = unchecked.errors.map(inWords).join('; ') || 'no extended error';
    const seen = `${resolver}: SERVFAIL for ${unchecked.question}, but an answer with checking disabled; ${told}`;
    const problems = [dnsProblem('dnssec_bogus', { seen, wanted })];
    return { ...heard, kind: 'wrong', seen: 'an answer that fails DNSSEC', problems };
  }
  if (cname.kind === 'failed') return { ...heard, kind: 'failed', seen: `DNSSEC: ${cname.reason}` };
  return mayValidate(facts) ? { ...heard, kind: 'right', seen: 'passes DNSSEC' } : undefined;
};

const wanted = 'answers that pass DNSSEC validation, or no DS record at the parent zone';

/** A resolver that does not validate answers about the top-level domain does not validate at all. */
const mayValidate = ({ caa }: ResolverFacts): boolean =>
  caa.some(({ answer }) => answer.kind !== 'failed' && answer.isAuthentic === true) ||
  caa.at(-1)?.name.includes('.') === true;

const otherCauses: readonly number[] = [14, 15, 16, 17, 18, 20, 21, 22, 23];

/** The failure came from a cache; another code may name its cause. */
const cachedError = 13;

const isBroken = (errors: readonly ExtendedError[]): boolean => {
  const causes = errors.filter(({ code }) => code !== cachedError);
  return causes.length === 0 || causes.some(({ code }) => !otherCauses.includes(code));
};

/** RFC 8914, section 5.2, as far as it concerns DNSSEC. */
const names: Readonly<Record<number, string>> = {
  0: 'Other Error',
  1: 'Unsupported DNSKEY Algorithm',
  2: 'Unsupported DS Digest Type',
  5: 'DNSSEC Indeterminate',
  6: 'DNSSEC Bogus',
  7: 'Signature Expired',
  8: 'Signature Not Yet Valid',
  9: 'DNSKEY Missing',
  10: 'RRSIGs Missing',
  11: 'No Zone Key Bit Set',
  12: 'NSEC Missing',
  13: 'Cached Error',
  22: 'No Reachable Authority',
  23: 'Network Error',
  25: 'Signature Expired before Valid',
  27: 'Unsupported NSEC3 Iterations Value',
};

const inWords = ({ code, text }: ExtendedError): string => {
  const name = names[code];
  const said = text === '' ? '' : `: ${JSON.stringify(text)}`;
  return `extended error ${code}${name ? ` (${name})` : ''}${said}`;
};

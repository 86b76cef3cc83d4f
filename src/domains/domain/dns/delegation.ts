import { type ExtendedError, listed, type ResolverFacts } from './facts.ts';
import { type Finding, unanswered, dnsProblem, type DnsProblem } from './problem.ts';
import { judgeOwnership } from './route.ts';
import { delegationNameOf, delegationTarget } from './records.ts';
import { isWildcard } from '../names/name-rules.ts';

/** An attachment, and the zone of DNS challenges if there is one. */
export interface Delegated {
  readonly host: string;
  readonly token: string;
  readonly acmeDnsZone?: string | undefined;
  /** Of the wildcard over it in the same project: the challenge name can lead to one of both only. */
  readonly sharedToken?: string | undefined;
}

/**
 * Whether one resolver sees that the challenge name leads to our name for this attachment, or for the wildcard with which it
 * shares the challenge name. That one proves the wildcard alone, so the TXT record has to be there beside it. Its lack
 * is a problem of wildcards only, because for others the record is optional.
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

/** A wildcard cannot be validated in another way. @param names where the challenge name leads instead */
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

/** The delegation names the attachment, as the TXT record does. While one is unknown, the lack of the other proves nothing. */
export const judgeOwner = (one: ResolverFacts, name: Delegated): Finding => {
  if (isWildcard(name.host)) return judgeDelegation(one, name);
  const byText = judgeOwnership(one, name);
  if (name.acmeDnsZone === undefined) return byText;
  const byDelegation = judgeDelegation(one, name);
  if (byDelegation.kind === 'right') return byDelegation;
  return byText.kind === 'wrong' && byDelegation.kind === 'failed' ? byDelegation : byText;
};

/**
 * Whether the name passes DNSSEC at one resolver. Undefined where that resolver cannot tell, because it does not
 * validate.
 */
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

/** One that does not even validate the answer about the top-level domain does not validate. */
const mayValidate = ({ caa }: ResolverFacts): boolean =>
  caa.some(({ answer }) => answer.kind !== 'failed' && answer.isAuthentic === true) ||
  caa.at(-1)?.name.includes('.') === true;

/** The extended errors that have other causes than DNSSEC; a zone that another question reaches may only be slow. */
const otherCauses: readonly number[] = [14, 15, 16, 17, 18, 20, 21, 22, 23];

/** The failure comes from a cache: beside it stands what caused it, or nothing. */
const cachedError = 13;

const isBroken = (errors: readonly ExtendedError[]): boolean => {
  const causes = errors.filter(({ code }) => code !== cachedError);
  return causes.length === 0 || causes.some(({ code }) => !otherCauses.includes(code));
};

/** The registry of RFC 8914, section 5.2, as far as it concerns DNSSEC. */
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

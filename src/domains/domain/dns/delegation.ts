import { isWildcard } from '../names/wildcard.ts';
import type { ResolverFacts } from './facts.ts';
import { unanswered, type Finding } from './findings.ts';
import { judgeOwnership } from './ownership.ts';
import { dnsProblem, type DnsProblem } from './problem.ts';
import { delegationNameOf, delegationTarget } from './records.ts';
import { listed } from './shortened.ts';

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

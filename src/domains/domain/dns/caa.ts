import { isAllowedBy, parseIssueValue, type CaaPolicy } from './caa-issue.ts';
import type { CaaLevel, CaaRecord, DnsFailure } from './facts.ts';
import { shortened } from './shortened.ts';

/** Whether an authority may issue for a name (RFC 8659, section 3). */
export type CaaVerdict =
  | {
      readonly kind: 'allowed';
      /** The name whose records decided; undefined when there are none at all. */
      readonly level: string | undefined;
    }
  | {
      readonly kind: 'forbidden';
      readonly level: string;
      /** The record that says so, or comes closest to allowing it. */
      readonly record: CaaRecord;
      readonly why: CaaRefusal;
    }
  /** An authority takes this for a refusal: the answer could have been one. */
  | { readonly kind: 'failed'; readonly level: string; readonly reason: DnsFailure };

export type CaaRefusal =
  | 'unknown_critical_tag'
  | 'other_authority'
  | 'nobody'
  | 'malformed'
  | 'other_account'
  | 'other_method';

/** A record with the critical flag and any other tag forbids issuance. */
const knownTags = ['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc'];

/** 128 is the critical flag. Many write 1 instead, which authorities treat the same. */
const criticalFlags = 128 | 1;

/** Ordered from furthest from being allowed to nearest. */
const refusals = [
  'nobody',
  'other_authority',
  'malformed',
  'other_method',
  'other_account',
] as const;

/** @param levels from the host upwards; of a wildcard, from the name that it is below */
export const caaVerdict = (levels: readonly CaaLevel[], policy: CaaPolicy): CaaVerdict => {
  if (policy.issuers.length === 0) return { kind: 'allowed', level: undefined };
  for (const { name: level, answer } of levels) {
    if (answer.kind === 'failed') return { kind: 'failed', level, reason: answer.reason };
    if (answer.kind === 'records') return verdictOf(level, answer.records, policy);
  }
  return { kind: 'allowed', level: undefined };
};

const verdictOf = (level: string, records: readonly CaaRecord[], policy: CaaPolicy): CaaVerdict => {
  const critical = records.find(
    ({ flags, tag }) => (flags & criticalFlags) !== 0 && !knownTags.includes(tag.toLowerCase()),
  );
  if (critical) return { kind: 'forbidden', level, record: critical, why: 'unknown_critical_tag' };
  const refused = relevantTo(records, policy).map((record) => ({
    record,
    why: refusalOf(record, policy),
  }));
  if (refused.length === 0 || refused.some(({ why }) => why === undefined)) {
    return { kind: 'allowed', level };
  }
  const rank = (why: (typeof refused)[number]['why']) => (why ? refusals.indexOf(why) : -1);
  const closest = refused.reduce((best, one) => (rank(one.why) > rank(best.why) ? one : best));
  return { kind: 'forbidden', level, record: closest.record, why: closest.why ?? 'nobody' };
};

/**
 * For a wildcard those with `issuewild` where there are any; else those with `issue`. Without any, every authority may
 * issue (RFC 8659, sections 4.2 and 4.3).
 */
export const relevantTo = (
  records: readonly CaaRecord[],
  { isWildcard }: Pick<CaaPolicy, 'isWildcard'>,
): readonly CaaRecord[] => {
  const tagged = (wanted: string) => records.filter(({ tag }) => tag.toLowerCase() === wanted);
  const wild = isWildcard ? tagged('issuewild') : [];
  return wild.length > 0 ? wild : tagged('issue');
};

const refusalOf = (
  { value }: CaaRecord,
  policy: CaaPolicy,
): (typeof refusals)[number] | undefined => {
  const issue = parseIssueValue(value);
  if (!issue) return 'malformed';
  if (issue.issuer === '') return 'nobody';
  return isAllowedBy(issue, policy);
};

const longestValue = 200;

/** A record in the form of zone files; a long value is cut. */
export const caaLine = (name: string, { flags, tag, value }: CaaRecord): string =>
  `${name}. CAA ${flags} ${tag} ${JSON.stringify(shortened(value, longestValue))}`;

/** The line that lets an authority issue: of its names, any would do. */
export const allowingLine = (
  name: string,
  { issuers: [issuer = ''], isWildcard }: Pick<CaaPolicy, 'issuers' | 'isWildcard'>,
): string => caaLine(name, { flags: 0, tag: isWildcard ? 'issuewild' : 'issue', value: issuer });

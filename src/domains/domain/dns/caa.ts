import {
  type CaaLevel,
  type CaaRecord,
  type DnsFacts,
  type DnsFailure,
  type ResolverFacts,
  shortened,
} from './facts.ts';
import { agreementOf, dnsProblem, type Finding, unanswered } from './problem.ts';
import type { ValidationMethod } from './validation.ts';

export interface Issuers {
  readonly issuance: readonly Finding[];
  readonly mayIssue: readonly string[];
}

/** One allowed authority is sufficient. */
export const judgeIssuers = (
  { host, resolvers }: Pick<DnsFacts, 'host' | 'resolvers'>,
  policies: readonly CaaPolicy[],
): Issuers => {
  const judged = policies.map((policy) => ({
    authority: policy.authority,
    findings: resolvers.map((one) => judgeIssuance(one, host, policy)),
  }));
  const allowed = judged.filter(({ findings }) => agreementOf(findings) === 'right');
  const [{ authority, findings } = { authority: '', findings: [] }] = [...allowed, ...judged];
  const isOnly = allowed.length === 1 && policies.length > 1;
  return {
    issuance: isOnly ? findings.map((one) => toldOnly(one, authority)) : findings,
    mayIssue: allowed.map((one) => one.authority),
  };
};

const toldOnly = (finding: Finding, authority: string): Finding =>
  finding.kind === 'right' ? { ...finding, seen: `CAA allows only ${authority}` } : finding;

export interface CaaPolicy {
  readonly authority: string;
  readonly issuers: readonly string[] | undefined;
  readonly accountUri: string | undefined;
  readonly method: ValidationMethod;
  readonly isWildcard: boolean;
}

export interface IssueValue {
  readonly issuer: string;
  readonly parameters: readonly (readonly [tag: string, value: string])[];
}

const longestValue = 1024;

const domainName = /^[a-z0-9](-*[a-z0-9])*(\.[a-z0-9](-*[a-z0-9])*)*$/i;
const parameterTag = /^[a-z0-9](?:-*[a-z0-9])*$/i;
const parameterValue = /^[\x21-\x3a\x3c-\x7e]*$/;

export const parseIssueValue = (value: string): IssueValue | undefined => {
  if (value.length > longestValue) return undefined;
  const [name = '', ...rest] = value.split(';').map(withoutBlanks);
  if (name !== '' && !domainName.test(name)) return undefined;
  // A single semicolon allows no authority.
  if (rest.length === 1 && rest[0] === '') return { issuer: name, parameters: [] };
  const parameters = rest.map(parameterIn);
  return parameters.every((one) => one !== undefined) ? { issuer: name, parameters } : undefined;
};

const parameterIn = (text: string): IssueValue['parameters'][number] | undefined => {
  const equals = text.indexOf('=');
  if (equals === -1) return undefined;
  const tag = withoutBlanks(text.slice(0, equals));
  const value = withoutBlanks(text.slice(equals + 1));
  return parameterTag.test(tag) && parameterValue.test(value) ? [tag, value] : undefined;
};

const withoutBlanks = (text: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
};

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

const isAllowedBy = (
  { issuer, parameters }: IssueValue,
  { issuers, accountUri, method }: CaaPolicy,
): 'unnamed' | 'other_authority' | 'other_account' | 'other_method' | undefined => {
  if (!issuers) return 'unnamed';
  if (!issuers.includes(issuer)) return 'other_authority';
  const valuesOf = (tag: string) =>
    parameters.filter(([name]) => name.toLowerCase() === tag).map(([, value]) => value);
  // No authority satisfies a repeated parameter (RFC 8657, sections 3 and 4).
  const accounts = valuesOf('accounturi');
  if (accounts.length > 1 || accounts.some((uri) => uri !== accountUri)) return 'other_account';
  const methods = valuesOf('validationmethods');
  if (methods.length > 1 || !methods.every((list) => names(list, method))) return 'other_method';
  return undefined;
};

const names = (list: string, method: string): boolean => {
  const methods = list.split(',');
  return methods.every((one) => /^[a-z0-9-]+$/i.test(one)) && methods.includes(method);
};

export type CaaVerdict =
  | {
      readonly kind: 'allowed';
      readonly level: string | undefined;
    }
  | {
      readonly kind: 'forbidden';
      readonly level: string;
      readonly record: CaaRecord;
      readonly why: CaaRefusal;
    }
  | { readonly kind: 'unnamed'; readonly level: string }
  /** Authorities treat a failed lookup as a refusal. */
  | { readonly kind: 'failed'; readonly level: string; readonly reason: DnsFailure };

type CaaRefusal =
  | 'unknown_critical_tag'
  | 'other_authority'
  | 'nobody'
  | 'malformed'
  | 'other_account'
  | 'other_method';

const knownTags = ['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc'];

/** 128 is the critical flag. Many people write 1, which authorities treat the same. */
const criticalFlags = 128 | 1;

/** Ordered by how close each is to being allowed, the furthest first. */
const refusals = [
  'nobody',
  'other_authority',
  'malformed',
  'other_method',
  'other_account',
  'unnamed',
] as const;

/** @param levels from the host upwards, without `*.` */
export const caaVerdict = (levels: readonly CaaLevel[], policy: CaaPolicy): CaaVerdict => {
  if (policy.issuers?.length === 0) return { kind: 'allowed', level: undefined };
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
  const { record, why = 'nobody' } = closest;
  if (why === 'unnamed') return { kind: why, level };
  return { kind: 'forbidden', level, record, why };
};

/** `issuewild` overrides `issue` for wildcards. Without records everyone may issue (RFC 8659, 4.2 and 4.3). */
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

const longestShownValue = 200;

const caaLine = (name: string, { flags, tag, value }: CaaRecord): string =>
  `${name}. CAA ${flags} ${tag} ${JSON.stringify(shortened(value, longestShownValue))}`;

export const allowingLine = (
  name: string,
  { issuers: [issuer = ''] = [], isWildcard }: Pick<CaaPolicy, 'issuers' | 'isWildcard'>,
): string => caaLine(name, { flags: 0, tag: isWildcard ? 'issuewild' : 'issue', value: issuer });

const judgeIssuance = (facts: ResolverFacts, host: string, policy: CaaPolicy): Finding => {
  const verdict = caaVerdict(facts.caa, policy);
  const { resolver } = facts;
  const level = facts.caa.find(({ name }) => name === verdict.level);
  const ttl = level?.answer.kind === 'records' ? level.answer.ttl : undefined;
  switch (verdict.kind) {
    case 'allowed':
      return { kind: 'right', resolver, seen: 'CAA allows it', ttl };
    case 'failed':
      return unanswered(resolver, verdict.reason, 'CAA', `CAA of ${verdict.level}`);
    case 'unnamed': {
      const seen = `CAA of ${verdict.level} names authorities; ${policy.authority} has not told us its name yet`;
      const problem = dnsProblem('ca_unavailable', {
        seen,
        wanted: `an answer of ${policy.authority}`,
      });
      return { kind: 'failed', resolver, seen, ttl, problem };
    }
    case 'forbidden': {
      const reason = reasons(policy)[verdict.why];
      const seen = `${caaLine(verdict.level, verdict.record)} (${reason})`;
      const found = {
        seen,
        wanted: wantedLine(verdict, policy),
        ...inTheWay(facts, host, verdict),
      };
      const problem = dnsProblem('caa_forbids_issuer', found);
      return { kind: 'wrong', resolver, seen, ttl, problems: [problem] };
    }
  }
};

const reasons = ({ method }: CaaPolicy): Readonly<Record<CaaRefusal, string>> => ({
  unknown_critical_tag: 'a critical tag that no authority may ignore',
  other_authority: 'names another authority',
  nobody: 'allows nobody',
  malformed: 'cannot be read, so it allows nobody',
  other_account: 'names another account of the authority',
  other_method: `does not allow validation by ${method}`,
});

type Forbidden = Extract<CaaVerdict, { readonly kind: 'forbidden' }>;

const wantedLine = ({ why, level, record }: Forbidden, policy: CaaPolicy): string =>
  why === 'unknown_critical_tag' ? `no ${caaLine(level, record)}` : allowingLine(level, policy);

const inTheWay = ({ chain }: ResolverFacts, host: string, { level }: Forbidden) => {
  const end = chain.names.at(-1);
  return level === host && end !== undefined
    ? { fix: `The CAA records come from ${end}, where the CNAME leads. They have to change there.` }
    : {};
};

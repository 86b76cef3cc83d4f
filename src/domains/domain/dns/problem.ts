import { type DnsFailure, largestAnswer, shortened } from './facts.ts';

export const responsibles = ['customer', 'us', 'nobody'] as const;
export type Responsible = (typeof responsibles)[number];

export const severities = ['blocking', 'warning', 'ours', 'final'] as const;
export type Severity = (typeof severities)[number];

interface ProblemKind {
  readonly severity: Severity;
  readonly actor: Responsible;
  readonly fix: string;
}

const all = <Code extends string>(
  severity: Severity,
  actor: Responsible,
  fixes: Readonly<Record<Code, string>>,
) =>
  Object.fromEntries(
    Object.entries<string>(fixes).map(([code, fix]) => [code, { severity, actor, fix }]),
  ) as Readonly<Record<Code, ProblemKind>>;

export const dnsProblems = {
  ...all('blocking', 'customer', {
    dns_not_found:
      'The name does not exist. Create the records shown; for a new domain, check that it is registered and that its name servers are set.',
    cname_missing:
      'Create the CNAME record shown. Most providers want only the part left of the domain as its name.',
    cname_wrong_target:
      'Change the value of the CNAME record to the one shown. A target of an earlier attempt or another project does not count.',
    conflicting_a:
      'Delete the A record: a name with one cannot have the CNAME record. If it is gone already, wait for its TTL to pass.',
    conflicting_aaaa:
      'Delete the AAAA record: a name with one cannot have the CNAME record. If it is gone already, wait for its TTL to pass.',
    apex_needs_alias:
      'Create the ALIAS or ANAME record shown, in place of any CNAME record: an apex domain cannot have one. If your provider has neither, use a name such as www and redirect to it.',
    alias_wrong_address:
      'Delete the A and AAAA records with other addresses and create the ALIAS or ANAME record shown: no other address records may exist.',
    delegation_missing:
      'Create the CNAME record shown at the name that begins with _acme-challenge: a wildcard can only get a certificate with it. The wildcard record does not replace it.',
    ownership_txt_missing: 'Create the TXT record shown. It proves that the name is yours.',
    ownership_txt_mismatch:
      'Change the TXT record to the value shown, without quotation marks; other TXT records may exist beside it.',
    caa_forbids_issuer:
      'Change the CAA records as shown, at the provider of that name. Without that no certificate can be issued.',
    dns_lookup_failed:
      'The name servers did not answer. We keep trying; if this persists, check the name servers of the domain.',
    dnssec_bogus:
      'The DNSSEC of the domain is broken, so validating resolvers refuse its answers, and no authority may issue a certificate. At your DNS provider, sign the zone again; or remove the DS record at your registrar, which switches DNSSEC off.',
    dns_answer_too_large:
      'There are more records at this name than we read. Delete the unneeded ones.',
    cname_loop:
      'The CNAME records form a loop, or a chain that is too long. Point the name directly at the value shown.',
    challenge_unreachable:
      'The certificate authority did not reach this site through the name. Check that no other address, firewall or redirect is in the way.',
  }),
  ...all('warning', 'nobody', {
    propagation_incomplete: 'Wait until the old answer expires in the cache of that resolver.',
  }),
  ...all('warning', 'customer', {
    proxied:
      'A proxy answers for the name. Switch it to "DNS only": otherwise certificates can fail, now or when they are renewed.',
    wildcard_dns:
      'Every name beside this one exists through a wildcard record, so the TXT record has to prove that this one is yours.',
    cname_chain:
      'It works, but the owners of the intermediate names control the site. Point the name directly at the value shown.',
  }),
  ...all('ours', 'us', {
    ca_rate_limited: 'The certificate authority asked us to wait. We try again automatically.',
    ca_unavailable: 'The certificate authority is unavailable. We try again automatically.',
  }),
  ...all('final', 'customer', {
    ca_rejected_name:
      'The certificate authority refuses this name. Use another one, or ask the authority for the reason.',
    name_reserved: 'Use a name that you registered.',
    public_suffix: 'Use a name below a domain that you registered.',
    ip_literal: 'Use a name instead of an address.',
    wildcard_unsupported: 'Add each name separately.',
    name_too_long: 'Use a shorter name.',
  }),
};

export type DnsProblemCode = keyof typeof dnsProblems;

export const problemTitles: Readonly<Record<DnsProblemCode, string>> = {
  dns_not_found: 'The name is not in the DNS',
  cname_missing: 'The CNAME record is missing',
  cname_wrong_target: 'The CNAME record points elsewhere',
  conflicting_a: 'An A record conflicts',
  conflicting_aaaa: 'An AAAA record conflicts',
  apex_needs_alias: 'The ALIAS record is missing',
  alias_wrong_address: 'The name has other addresses',
  ownership_txt_missing: 'The TXT record is missing',
  ownership_txt_mismatch: 'The TXT record has another value',
  caa_forbids_issuer: 'A CAA record forbids the certificate',
  dns_lookup_failed: 'The name servers do not answer',
  dnssec_bogus: 'The DNSSEC of the domain is broken',
  dns_answer_too_large: 'There are too many records',
  cname_loop: 'The CNAME records form a loop',
  challenge_unreachable: 'The certificate authority did not reach the site',
  propagation_incomplete: 'Not all resolvers see the change yet',
  proxied: 'A proxy answers for the name',
  delegation_missing: 'The CNAME record of the challenge is missing',
  wildcard_dns: 'The zone has a wildcard record',
  cname_chain: 'The CNAME points here through other names',
  ca_rate_limited: 'The certificate authority asks us to wait',
  ca_unavailable: 'The certificate authority is unavailable',
  ca_rejected_name: 'The certificate authority refuses the name',
  name_reserved: 'The name is reserved',
  public_suffix: 'The name is a public suffix',
  ip_literal: 'It is an IP address',
  wildcard_unsupported: 'Wildcards are not supported',
  name_too_long: 'The name is too long',
};

export const isProblemCode = (word: unknown): word is DnsProblemCode =>
  typeof word === 'string' && Object.hasOwn(dnsProblems, word);

export interface DnsProblem extends ProblemKind {
  readonly code: DnsProblemCode;
  readonly seen: string;
  readonly wanted: string;
  readonly resolver: string | undefined;
}

/** Observed values are untrusted and may be long; see `shownAtMost`. */
export const dnsProblem = (
  code: DnsProblemCode,
  {
    resolver,
    seen,
    wanted,
    ...found
  }: Pick<DnsProblem, 'seen' | 'wanted'> & Partial<Pick<DnsProblem, 'actor' | 'fix' | 'resolver'>>,
): DnsProblem => ({
  code,
  ...dnsProblems[code],
  ...found,
  resolver,
  seen: shortened(seen),
  wanted: shortened(wanted),
});

export const isBlocking = ({ severity }: Pick<DnsProblem, 'severity'>): boolean =>
  severity === 'blocking' || severity === 'final';

export type Finding<Right = unknown> =
  | ({ readonly kind: 'right' } & Heard & Right)
  | ({ readonly kind: 'wrong'; readonly problems: readonly DnsProblem[] } & Heard)
  /** Proves nothing: the lookup failed, or `problem` prevented it. */
  | ({ readonly kind: 'failed'; readonly problem?: DnsProblem } & Heard);

interface Heard {
  readonly resolver: string;
  readonly seen: string;
  readonly ttl: number | undefined;
}

const tooLarge = `at most ${largestAnswer.records} records and ${largestAnswer.characters} characters in one answer`;

/** A too large answer is wrong; other failures prove nothing. @param place the name that was looked up */
export const unanswered = (
  resolver: string,
  reason: DnsFailure,
  type: string,
  place = type,
): Finding => {
  const heard = { resolver, ttl: undefined };
  if (reason !== 'too_large') return { ...heard, kind: 'failed', seen: `${place}: ${reason}` };
  const found = { seen: `${place}: too large`, wanted: tooLarge };
  const problems = [dnsProblem('dns_answer_too_large', found)];
  return { ...heard, kind: 'wrong', seen: `${type}: too large`, problems };
};

export const isMajority = (count: number, asked: number): boolean => count > asked / 2;

export const agreementOf = (findings: readonly Finding[]): 'right' | 'wrong' | 'unknown' => {
  const count = (kind: 'right' | 'failed') => findings.filter((one) => one.kind === kind).length;
  if (isMajority(count('right'), findings.length)) return 'right';
  const failed = count('failed');
  const couldBeRight = isMajority(count('right') + failed, findings.length);
  return findings.length === 0 || (failed > 0 && couldBeRight) ? 'unknown' : 'wrong';
};

export const problemsIn = (questions: readonly (readonly Finding[])[]): readonly DnsProblem[] => {
  const unknown = questions.filter((findings) => agreementOf(findings) === 'unknown');
  return [
    ...questions.flatMap(blockersOf),
    ...lookupFailure(unknown.filter((findings) => obstacleIn(findings) === undefined)),
    ...unknown.flatMap((findings) => obstacleIn(findings) ?? []),
    ...questions.flatMap(dissentIn),
  ];
};

const obstacleIn = (findings: readonly Finding[]): DnsProblem | undefined =>
  findings.flatMap((one) => (one.kind === 'failed' && one.problem ? [one.problem] : []))[0];

const blockersOf = (findings: readonly Finding[]): readonly DnsProblem[] => {
  if (agreementOf(findings) !== 'wrong') return [];
  const wrong = findings.filter((one) => one.kind === 'wrong');
  const codesOf = (one: (typeof wrong)[number]) => one.problems.map(({ code }) => code).join(' ');
  return mostCommon(wrong, codesOf)?.problems ?? [];
};

const lookupFailure = (unknown: readonly (readonly Finding[])[]): readonly DnsProblem[] => {
  const failed = unknown.flat().filter(({ kind }) => kind === 'failed');
  const seen = failed.map((one) => `${one.resolver}: ${one.seen}`).join('; ') || 'no answer';
  const wanted = 'the same answer from more than half of the resolvers';
  return unknown.length > 0 ? [dnsProblem('dns_lookup_failed', { seen, wanted })] : [];
};

const dissentIn = (findings: readonly Finding[]): readonly DnsProblem[] => {
  const agreed = findings.find(({ kind }) => kind === 'right');
  if (!agreed) return [];
  return findings
    .filter(({ kind }) => kind === 'wrong')
    .map(({ resolver, seen, ttl }) =>
      dnsProblem('propagation_incomplete', {
        seen: `${resolver} answers ${seen}${ttl === undefined ? '' : ` for up to ${ttl} s more`}`,
        wanted: agreed.seen,
        resolver,
      }),
    );
};

const mostCommon = <One>(all: readonly One[], nameOf: (one: One) => string): One | undefined => {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return all.find((one) => counts.get(nameOf(one)) === most);
};

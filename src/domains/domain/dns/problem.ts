import { largestAnswer } from './facts.ts';
import { shortened } from './shortened.ts';

/** Who must act. */
export const responsibles = ['customer', 'us', 'nobody'] as const;
export type Responsible = (typeof responsibles)[number];

/** `ours` is retried automatically; `final` needs another name. */
export const severities = ['blocking', 'warning', 'ours', 'final'] as const;
export type Severity = (typeof severities)[number];

interface ProblemKind {
  readonly severity: Severity;
  readonly actor: Responsible;
  readonly fix: string;
}

/** Every problem that can keep a name from serving its site: severity, who must act, and how. */
export const dnsProblems = {
  dns_not_found: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'The name does not exist. Create the records shown; for a new domain, check that it is registered and that its name servers are set.',
  },
  cname_missing: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'Create the CNAME record shown. Most providers want only the part left of the domain as its name.',
  },
  cname_wrong_target: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'Change the value of the CNAME record to the one shown. A target of an earlier attempt or another project does not count.',
  },
  conflicting_a: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'Delete the A record: a name with one cannot have the CNAME record. If it is gone already, wait for its TTL to pass.',
  },
  conflicting_aaaa: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'Delete the AAAA record: a name with one cannot have the CNAME record. If it is gone already, wait for its TTL to pass.',
  },
  apex_needs_alias: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'Create the ALIAS or ANAME record shown, in place of any CNAME record: an apex domain cannot have one. If your provider has neither, use a name such as www and redirect to it.',
  },
  alias_wrong_address: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'Delete the A and AAAA records with other addresses and create the ALIAS or ANAME record shown: only that may stand there.',
  },
  ownership_txt_missing: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'Create the TXT record shown. It proves that the name is yours.',
  },
  ownership_txt_mismatch: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'Change the TXT record to the value shown, without quotation marks; others may stand beside it.',
  },
  caa_forbids_issuer: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'Change the CAA records as shown, at the provider of that name. Without that no certificate can be issued.',
  },
  dns_lookup_failed: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'The name servers did not answer. We keep trying; if this persists, check the name servers and the DNSSEC of the domain.',
  },
  dns_answer_too_large: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'There are more records at this name than we read. Delete those that nobody needs.',
  },
  cname_loop: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'The CNAME records form a loop, or a chain that is too long. Point the name directly at the value shown.',
  },
  challenge_unreachable: {
    severity: 'blocking',
    actor: 'customer',
    fix: 'The certificate authority did not reach this site through the name. Check that no other address, firewall or redirect stands in between.',
  },
  propagation_incomplete: {
    severity: 'warning',
    actor: 'nobody',
    fix: 'Wait until the old answer in the cache of that resolver expires.',
  },
  proxied: {
    severity: 'warning',
    actor: 'customer',
    fix: 'A proxy answers for the name. Switch it to "DNS only": otherwise certificates can fail, now or when they are renewed.',
  },
  wildcard_dns: {
    severity: 'warning',
    actor: 'customer',
    fix: 'Every name beside this one exists through a wildcard record, so the TXT record has to prove that this one is yours.',
  },
  cname_chain: {
    severity: 'warning',
    actor: 'customer',
    fix: 'It works, but whoever controls the intermediate names controls the site. Point the name directly at the value shown.',
  },
  ca_rate_limited: {
    severity: 'ours',
    actor: 'us',
    fix: 'The certificate authority asked us to wait. We try again automatically.',
  },
  ca_unavailable: {
    severity: 'ours',
    actor: 'us',
    fix: 'The certificate authority is unavailable. We try again automatically.',
  },
  ca_rejected_name: {
    severity: 'final',
    actor: 'customer',
    fix: 'The certificate authority issues nothing for this name. Use another one, or ask the authority for the reason.',
  },
  name_reserved: { severity: 'final', actor: 'customer', fix: 'Use a name that you registered.' },
  public_suffix: {
    severity: 'final',
    actor: 'customer',
    fix: 'Use a name below a domain that you registered.',
  },
  ip_literal: { severity: 'final', actor: 'customer', fix: 'Use a name instead of an address.' },
  wildcard_unsupported: { severity: 'final', actor: 'customer', fix: 'Add each name by itself.' },
  name_too_long: { severity: 'final', actor: 'customer', fix: 'Use a shorter name.' },
} as const satisfies Readonly<Record<string, ProblemKind>>;

export type DnsProblemCode = keyof typeof dnsProblems;

export const isProblemCode = (word: unknown): word is DnsProblemCode =>
  typeof word === 'string' && Object.hasOwn(dnsProblems, word);

export interface DnsProblem extends ProblemKind {
  readonly code: DnsProblemCode;
  readonly seen: string;
  readonly wanted: string;
  /** The resolver that sees it, if not all do. */
  readonly resolver: string | undefined;
}

/** Observed values are untrusted and may be long: see `shownAtMost`. @param actor where it is not the usual one */
export const dnsProblem = (
  code: DnsProblemCode,
  {
    resolver,
    seen,
    wanted,
    ...found
  }: Pick<DnsProblem, 'seen' | 'wanted'> & Partial<Pick<DnsProblem, 'actor' | 'fix' | 'resolver'>>,
): DnsProblem => ({
  ...{ code, ...dnsProblems[code], ...found, resolver },
  ...{ seen: shortened(seen), wanted: shortened(wanted) },
});

/** @param what type and place of the records */
export const tooLarge = (what: string): DnsProblem =>
  dnsProblem('dns_answer_too_large', {
    seen: `${what}: too large`,
    wanted: `at most ${largestAnswer.records} records and ${largestAnswer.characters} characters in one answer`,
  });

/** Whether it prevents a certificate. */
export const isBlocking = ({ severity }: Pick<DnsProblem, 'severity'>): boolean =>
  severity === 'blocking' || severity === 'final';

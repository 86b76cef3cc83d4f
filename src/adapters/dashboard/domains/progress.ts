import { workOn } from '../../../domains/domain/certificates/certificate-status.ts';
import type {
  CustomDomain,
  DomainIn,
  RemovalReason,
} from '../../../domains/domain/attachment/custom-domain.ts';
import {
  isBlocking,
  problemTitles,
  type DnsProblemCode,
} from '../../../domains/domain/dns/problem.ts';
import { proofOf } from '../../../domains/domain/dns/records.ts';
import { progressOfLive, progressOfVerified } from './certified.ts';
import { progressOfPreparing } from './preparing.ts';
import { ourTurn, yourTurn, type Progress } from './turn.ts';
import { nameInText, nameOf } from './words.ts';

/** @param redirectsTo where visitors of a live domain are sent, if they do not get the site */
export const progressOf = (domain: CustomDomain, now: Date, redirectsTo?: string): Progress => {
  switch (domain.state) {
    case 'added':
      return progressOfPreparing(domain, now) ?? progressOfAdded(domain);
    case 'verified':
      return progressOfVerified(domain);
    case 'live':
      return progressOfLive(domain, now, redirectsTo);
    case 'removed':
      return progressOfRemoved(domain);
  }
};

/** For somebody who is not signed in, and so cannot start another attempt. */
export const sharedSentenceOf = (domain: CustomDomain, now: Date, redirectsTo?: string): string =>
  workOn(domain)?.step === 'waits_for_owner'
    ? 'There is no certificate: see the problem below. Once it is fixed, tell the person who sent you this link, who can start another attempt.'
    : progressOf(domain, now, redirectsTo).sentence;

const progressOfAdded = ({ dns: { report }, registrableDomain }: DomainIn<'added'>): Progress => {
  if (!report) {
    return yourTurn(
      'Waiting for DNS records',
      `Create the records below at the DNS provider of ${nameInText(nameOf(registrableDomain))}. We check for them automatically.`,
      'busy',
    );
  }
  const problem = report.problems.find(isBlocking);
  if (!problem) {
    return ourTurn('DNS is correct', 'The DNS is correct. The next check verifies the domain.');
  }
  const asked = report.resolvers.length;
  const agreeing = report.resolvers.filter(({ agrees }) => agrees).length;
  if (agreeing > 0 && meanings[problem.code] !== 'unreadable') {
    return {
      short: `${agreeing} of ${asked} resolvers see it`,
      sentence: `${agreeing} of ${asked} resolvers return the correct answer. The others still have an old one in their cache, which expires on its own.`,
      actor: 'nobody',
      tone: 'busy',
      isWorkedOn: false,
    };
  }
  const codes = new Set(report.problems.filter(isBlocking).map(({ code }) => code));
  const { size } = codes;
  const title = `${problemTitles[problem.code]}${size > 1 ? `, and ${size - 1} more` : ''}`;
  // The details are right below; the list has the title.
  const what = size === 1 ? 'the problem' : `the ${size} problems`;
  const isAwaited = [...codes].every((code) => meanings[code] === 'awaited');
  return isAwaited
    ? yourTurn(title, `The DNS does not have all records yet. ${awaiting}`, 'busy')
    : yourTurn(
        title,
        `The DNS is not correct yet. Fix ${what} below; we check again automatically.`,
      );
};

/**
 * `awaited`: normal until some time after the records are created. `unreadable`: resolvers that do not agree have no old
 * answer, but none.
 */
const meanings: Readonly<Record<DnsProblemCode, 'awaited' | 'unreadable' | 'wrong'>> = {
  dns_not_found: 'awaited',
  cname_missing: 'awaited',
  apex_needs_alias: 'awaited',
  ownership_txt_missing: 'awaited',
  delegation_missing: 'awaited',
  dns_lookup_failed: 'unreadable',
  dnssec_bogus: 'unreadable',
  cname_wrong_target: 'wrong',
  conflicting_a: 'wrong',
  conflicting_aaaa: 'wrong',
  alias_wrong_address: 'wrong',
  ownership_txt_mismatch: 'wrong',
  caa_forbids_issuer: 'wrong',
  dns_answer_too_large: 'wrong',
  cname_loop: 'wrong',
  challenge_unreachable: 'wrong',
  propagation_incomplete: 'wrong',
  proxied: 'wrong',
  wildcard_dns: 'wrong',
  cname_chain: 'wrong',
  ca_rate_limited: 'wrong',
  ca_unavailable: 'wrong',
  ca_rejected_name: 'wrong',
  name_reserved: 'wrong',
  public_suffix: 'wrong',
  ip_literal: 'wrong',
  wildcard_unsupported: 'wrong',
  name_too_long: 'wrong',
};
const awaiting =
  'Create the records below, if you have not; changes can take up to 48 hours to show. We check automatically.';

interface Removal {
  readonly short: string;
  /** What to do for that host. */
  readonly advice: (host: string) => string;
}

const removals = {
  owner: { short: 'Removed by your account', advice: () => '' },
  contested: {
    short: 'Another account proved that it owns the name',
    advice: (host) =>
      ` If it is yours, add it again and create ${proofOf(host)}, which proves that you own it.`,
  },
  expired: {
    short: 'Not verified within 30 days',
    advice: () => ' Add it again once its records can be created.',
  },
} as const satisfies Readonly<Record<RemovalReason, Removal>>;

const progressOfRemoved = ({ host, reason }: DomainIn<'removed'>): Progress => ({
  short: removals[reason].short,
  sentence: `${removals[reason].short}. Nothing is served under this name any more.${removals[reason].advice(host)}`,
  actor: 'customer',
  tone: 'idle',
  isWorkedOn: false,
});

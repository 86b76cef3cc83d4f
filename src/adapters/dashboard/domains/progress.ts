import type {
  CustomDomain,
  DomainIn,
  OwnFact,
  RemovalReason,
} from '../../../domains/domain/attachment/custom-domain.ts';
import { isSpreading } from '../../../domains/domain/attachment/due-work.ts';
import { nameInText } from '../../../domains/domain/names/hostname.ts';
import {
  healthOf,
  whyAstray,
  isDelegated,
  isReadyAt,
  isServed,
} from '../../../domains/domain/attachment/serving.ts';
import { type Hold, limitInWords } from '../../../domains/domain/certificates/ca-budget.ts';
import { isOrdered, workOn } from '../../../domains/domain/certificates/certificate-status.ts';
import {
  type DnsProblem,
  type DnsProblemCode,
  isBlocking,
  problemTitles,
  type Responsible,
} from '../../../domains/domain/dns/problem.ts';
import { proofOf } from '../../../domains/domain/dns/records.ts';
import { type Child, html } from '../frame/html.ts';
import { exactTime, type Tone } from '../frame/parts.ts';
import { nameOf } from './words.ts';

export interface Progress {
  readonly short: string;
  readonly sentence: Child;
  readonly actor: Responsible;
  readonly tone: Tone;
  readonly isWorkedOn: boolean;
}

const ownerActs = (short: string, sentence: string, tone: Tone = 'bad'): Progress => ({
  short,
  sentence,
  tone,
  actor: 'customer',
  isWorkedOn: false,
});

const weAct = (short: string, sentence: Child): Progress => ({
  short,
  sentence,
  tone: 'busy',
  actor: 'us',
  isWorkedOn: true,
});

/** Starts a title in lower case, for use within a sentence. Abbreviations keep their capitals. */
const lowered = (title: string): string =>
  /^[A-Z][a-z]|^An? /.test(title) ? `${title.slice(0, 1).toLowerCase()}${title.slice(1)}` : title;

/** @param redirectsTo where a live domain redirects its visitors, if it does not serve the site */
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

export const sharedSentenceOf = (domain: CustomDomain, now: Date, redirectsTo?: string): Child =>
  workOn(domain)?.step === 'waits_for_owner'
    ? 'There is no certificate: see the problem below. Once it is fixed, tell the person who sent you this link, who can start another attempt.'
    : progressOf(domain, now, redirectsTo).sentence;

const progressOfAdded = ({ dns: { report }, registrableDomain }: DomainIn<'added'>): Progress => {
  if (!report) {
    return ownerActs(
      'Waiting for DNS records',
      `Create the records below at the DNS provider of ${nameInText(nameOf(registrableDomain))}. We check for them automatically.`,
      'busy',
    );
  }
  const problem = report.problems.find(isBlocking);
  if (!problem) {
    return weAct('DNS is correct', 'The DNS is correct. The next check verifies the domain.');
  }
  const asked = report.resolvers.length;
  const agreeing = report.resolvers.filter(({ agrees }) => agrees).length;
  if (isSpreading(report)) {
    const isOne = agreeing === 1;
    return {
      short: `${agreeing} of ${asked} resolvers ${isOne ? 'sees' : 'see'} it`,
      sentence: `${agreeing} of ${asked} resolvers ${isOne ? 'returns' : 'return'} the correct answer. The others still have an old one in their cache, which expires on its own.`,
      actor: 'nobody',
      tone: 'busy',
      isWorkedOn: false,
    };
  }
  const codes = new Set(report.problems.filter(isBlocking).map(({ code }) => code));
  const { size } = codes;
  const title = `${problemTitles[problem.code]}${size > 1 ? `, and ${size - 1} more` : ''}`;
  const what = size === 1 ? 'the problem' : `the ${size} problems`;
  const isAwaited = [...codes].every((code) => meanings[code] === 'awaited');
  return isAwaited
    ? ownerActs(title, `The DNS does not have all records yet. ${awaiting}`, 'busy')
    : ownerActs(
        title,
        `The DNS is not correct yet. Fix ${what} below; we check again automatically.`,
      );
};

/** `awaited` problems are normal until some time after the records are created. */
const meanings: Readonly<Record<DnsProblemCode, 'awaited' | 'wrong'>> = {
  dns_not_found: 'awaited',
  cname_missing: 'awaited',
  apex_needs_alias: 'awaited',
  ownership_txt_missing: 'awaited',
  delegation_missing: 'awaited',
  dns_lookup_failed: 'wrong',
  dnssec_bogus: 'wrong',
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

/** Whether a problem is only that a new domain does not have all its records yet. */
export const isOnlyAwaited = ({ state }: CustomDomain, code: DnsProblemCode): boolean =>
  state === 'added' && meanings[code] === 'awaited';

const awaiting =
  'Create the records below, if you have not; changes can take up to 48 hours to show. We check automatically.';

interface Removal {
  readonly short: string;
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
  project_deleted: { short: 'Its project was deleted', advice: () => '' },
} as const satisfies Readonly<Record<RemovalReason, Removal>>;

const progressOfRemoved = ({ host, reason }: DomainIn<'removed'>): Progress => ({
  short: removals[reason].short,
  sentence: `${removals[reason].short}. Nothing is served under this name any more.${removals[reason].advice(host)}`,
  actor: 'customer',
  tone: 'idle',
  isWorkedOn: false,
});

const move =
  'Create the first record below in place of the old ones. From then on visitors get your site here over HTTPS; we check for it automatically.';

const progressOfPreparing = (domain: DomainIn<'added'>, now: Date): Progress | undefined => {
  const work = workOn(domain);
  if (!work || !isDelegated(domain)) return undefined;
  if (isReadyAt(domain, now)) {
    const sentence = `Certificate ready: point your DNS here whenever you like. ${move}`;
    return { ...ownerActs('Certificate ready', sentence, 'good') };
  }
  if (!work.problem)
    return weAct(
      'Certificate is being issued',
      'The name is proven, and its certificate is being ordered. You can point your DNS here without a gap once it is ready.',
    );
  const title = problemTitles[work.problem.code];
  const next =
    work.step === 'waits_for_owner'
      ? 'We no longer retry. Fix that, then press Verify.'
      : 'We retry automatically.';
  const sentence = `The certificate is not ready yet: ${lowered(title)}. ${next}`;
  return { ...ownerActs(title, sentence), actor: work.problem.actor };
};

const usually = 'That usually takes less than two minutes.';

const progressOfVerified = ({ certificate: { work } }: DomainIn<'verified'>): Progress => {
  switch (work.step) {
    case 'planned':
      return work.problem ? progressOfFailure(work.problem) : isIssued('ordered');
    case 'ordered':
      return work.problem ? progressOfFailure(work.problem) : isIssued('checked');
    case 'waits_for_dns':
      return progressOfFailure(work.problem);
    case 'waits_for_owner':
      return progressOfEnd(work.problem);
  }
};

const isIssued = (what: keyof typeof nowIssuing): Progress =>
  weAct('Certificate is being issued', `${nowIssuing[what]} ${usually}`);

const nowIssuing = {
  ordered: 'The DNS is correct, and the certificate is being ordered.',
  checked: 'The certificate authority is checking that the domain points to this service.',
};

export const progressOfHeldUp = (
  domain: CustomDomain,
  heldUpBy: Hold | undefined,
): Progress | undefined => {
  const { certificate, state } = domain;
  if (!heldUpBy || certificate.kind !== 'wanted' || certificate.work.problem) return undefined;
  const limit = limitInWords(heldUpBy.reason);
  const right = state === 'added' ? 'The name is proven.' : 'The DNS is correct.';
  const sentence = html`${right} The certificate waits, because a limit is reached: ${limit}. It is ordered automatically, from ${exactTime(heldUpBy.nextAt)} on.`;
  return { ...weAct(`Certificate waits: ${limit}`, sentence), isWorkedOn: false };
};

const progressOfEnd = ({ code }: DnsProblem): Progress => {
  const title = problemTitles[code];
  const advice = 'We no longer retry. Fix that, then press Re-verify.';
  return ownerActs(title, `There is no certificate: ${lowered(title)}. ${advice}`);
};

const progressOfFailure = ({ code, actor }: DnsProblem): Progress => {
  const title = problemTitles[code];
  const waits = `The certificate has to wait: ${lowered(title)}.`;
  return actor === 'customer'
    ? ownerActs(title, `${waits} Fix that; we retry automatically.`)
    : { ...weAct(title, `${waits} We retry automatically.`), isWorkedOn: false };
};

/** Facts of a live domain that take precedence over its health. Every fact needs an entry, or this does not compile. */
const saidOf: Readonly<
  Record<OwnFact<'live'>, (domain: DomainIn<'live'>) => Progress | undefined>
> = {
  verifiedAt: () => undefined,
  liveSince: () => undefined,
};

const progressOfLive = (
  domain: DomainIn<'live'>,
  now: Date,
  redirectsTo: string | undefined,
): Progress => {
  const [told] = Object.values(saidOf).flatMap((say) => say(domain) ?? []);
  if (told) return told;
  if (domain.pause) return progressOfPaused(domain);
  const health = healthOf(domain, now);
  switch (health?.kind) {
    case 'certificate_expired': {
      const because = health.problem ? `: ${lowered(problemTitles[health.problem.code])}` : '';
      return ownerActs(
        'Certificate has expired',
        `The certificate has expired and could not be renewed${because}. Browsers warn your visitors.`,
      );
    }
    case 'at_risk': {
      const { code, actor } = health.problem;
      const title = problemTitles[code];
      const sentence = `${visitorsGet(redirectsTo)}, but its certificate cannot be renewed: ${lowered(title)}.`;
      return { ...ownerActs(title, sentence, actor === 'customer' ? 'bad' : 'busy'), actor };
    }
    case 'healthy':
    case undefined:
      return progressOfHealthy(domain, redirectsTo);
  }
};

const progressOfPaused = ({ dns }: DomainIn<'live'>): Progress => {
  const problem = whyAstray(dns.report);
  const sentence =
    'The project was restored. This domain is served again as soon as a check shows that its DNS leads here.';
  if (problem) {
    return { ...ownerActs(problemTitles[problem.code], sentence), actor: problem.actor };
  }
  return { short: 'Not served yet', sentence, actor: 'us', tone: 'busy', isWorkedOn: true };
};

const visitorsGet = (redirectsTo: string | undefined): string =>
  redirectsTo === undefined
    ? 'Your site is served over HTTPS'
    : `Visitors are redirected to ${redirectsTo}`;

const progressOfHealthy = (
  domain: DomainIn<'live'>,
  redirectsTo: string | undefined,
): Progress => ({
  short: redirectsTo === undefined ? 'Served over HTTPS' : 'Redirects over HTTPS',
  sentence: `${visitorsGet(redirectsTo)}. Its certificate ${isOrdered(domain) ? 'is being renewed' : 'renews automatically'}.`,
  actor: 'nobody',
  tone: 'good',
  isWorkedOn: isOrdered(domain),
});

export const lossesOf = (domain: CustomDomain): readonly string[] => [
  isServed(domain)
    ? 'Visitors can no longer reach the site under this name, effective immediately.'
    : 'Its DNS is no longer checked.',
  domain.certificate.kind === 'issued'
    ? 'Its certificate and private key are destroyed.'
    : 'It has no certificate yet; none will be ordered.',
];

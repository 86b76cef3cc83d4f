import type {
  CustomDomain,
  DomainIn,
  RemovalReason,
} from '../../../domains/domain/attachment/custom-domain.ts';
import { isBlocking, type DnsProblemCode } from '../../../domains/domain/dns/problem.ts';
import { progressOfLive, progressOfVerified } from './certified.ts';
import { problemTitles } from './problem-titles.ts';
import { ourTurn, yourTurn, type Progress } from './turn.ts';
import { nameInText, nameOf } from './words.ts';

export const progressOf = (domain: CustomDomain, now: Date): Progress => {
  switch (domain.state) {
    case 'added':
      return progressOfAdded(domain);
    case 'verified':
      return progressOfVerified(domain);
    case 'live':
      return progressOfLive(domain, now);
    case 'removed':
      return progressOfRemoved(domain);
  }
};

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
  if (agreeing > 0 && problem.code !== 'dns_lookup_failed') {
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
  const isAwaited = [...codes].every((code) => awaited.has(code));
  return isAwaited
    ? yourTurn(title, `The DNS does not have all records yet. ${awaiting}`, 'busy')
    : yourTurn(
        title,
        `The DNS is not correct yet. Fix ${what} below; we check again automatically.`,
      );
};

/** Problems that are normal until some time after the records are created. */
const awaited: ReadonlySet<DnsProblemCode> = new Set<DnsProblemCode>([
  ...(['dns_not_found', 'cname_missing', 'apex_needs_alias', 'ownership_txt_missing'] as const),
]);
const awaiting =
  'Create the records below, if you have not; changes can take up to 48 hours to show. We check automatically.';

const removals = {
  owner: { short: 'Removed by your account', advice: '' },
  contested: {
    short: 'Another account proved that it owns the name',
    advice:
      ' If it is yours, add it again and create the TXT record, which proves that you own it.',
  },
  expired: {
    short: 'Not verified within 30 days',
    advice: ' Add it again once its records can be created.',
  },
} as const satisfies Readonly<Record<RemovalReason, object>>;

const progressOfRemoved = ({ reason }: DomainIn<'removed'>): Progress => ({
  short: removals[reason].short,
  sentence: `${removals[reason].short}. Nothing is served under this name any more.${removals[reason].advice}`,
  actor: 'customer',
  tone: 'idle',
  isWorkedOn: false,
});

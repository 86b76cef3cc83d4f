import type { CustomDomain, RemovalReason } from '../../sites/domain/custom-domain.ts';
import { isBlocking } from '../../sites/domain/dns-problem.ts';
import { progressOfLive, progressOfVerified } from './domain-certified.ts';
import { problemTitles } from './domain-problem-titles.ts';
import { lowered, ourTurn, yourTurn, type DomainIn, type Progress } from './domain-turn.ts';

/** What is said of a domain, in each of its states. */
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
      'Waits for its DNS records',
      `Create the records below where the DNS of ${registrableDomain} is managed. We look for them by ourselves.`,
      'busy',
    );
  }
  const problem = report.problems.find(isBlocking);
  if (!problem) {
    return ourTurn('DNS is right', 'The DNS is right. At the next look the domain is verified.');
  }
  const asked = report.resolvers.length;
  const agreeing = report.resolvers.filter(({ agrees }) => agrees).length;
  if (agreeing > 0 && problem.code !== 'dns_lookup_failed') {
    return {
      short: `${agreeing} of ${asked} resolvers see it`,
      sentence: `${agreeing} of ${asked} resolvers see it as it has to be. The others still answer from memory, which passes by itself.`,
      actor: 'nobody',
      tone: 'busy',
      isWorkedOn: false,
    };
  }
  const others = report.problems.filter(isBlocking).length - 1;
  const title = `${problemTitles[problem.code]}${others > 0 ? `, and ${others} more` : ''}`;
  const advice = 'Put that right; we look again by ourselves.';
  return yourTurn(title, `The DNS is not right yet: ${lowered(title)}. ${advice}`);
};

const removals = {
  owner: { short: 'Removed by your account', advice: '' },
  contested: {
    short: 'Somebody else proved that the name is theirs',
    advice: ' If it is yours, add it again and create the TXT record: that proves it.',
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

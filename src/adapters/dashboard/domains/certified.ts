import { limitInWords, type Hold } from '../../../domains/domain/certificates/ca-budget.ts';
import { isOrdered } from '../../../domains/domain/certificates/certificate-status.ts';
import type {
  CustomDomain,
  DomainIn,
  OwnFact,
} from '../../../domains/domain/attachment/custom-domain.ts';
import { healthOf } from '../../../domains/domain/attachment/serving.ts';
import { problemTitles, type DnsProblem } from '../../../domains/domain/dns/problem.ts';
import { lowered, ourTurn, yourTurn, type Progress } from './turn.ts';
import { exact } from '../frame/parts.ts';

const usually = 'That usually takes less than two minutes.';

export const progressOfVerified = ({ certificate: { work } }: DomainIn<'verified'>): Progress => {
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
  ourTurn('Certificate is being issued', `${nowIssuing[what]} ${usually}`);

const nowIssuing = {
  ordered: 'The DNS is correct, and the certificate is being ordered.',
  checked: 'The certificate authority is checking that the domain points to this service.',
};

/** For a certificate that only has to wait; failures have their own message. */
export const progressOfHeldUp = (
  domain: CustomDomain,
  heldUpBy: Hold | undefined,
): Progress | undefined => {
  const { certificate, state } = domain;
  if (!heldUpBy || certificate.kind !== 'wanted' || certificate.work.problem) return undefined;
  const limit = limitInWords(heldUpBy.reason);
  const right = state === 'added' ? 'The name is proven.' : 'The DNS is correct.';
  const sentence = `${right} The certificate waits, because a limit is reached: ${limit}. It is ordered automatically, from ${exact(heldUpBy.nextAt)} on.`;
  return { ...ourTurn(`Certificate waits: ${limit}`, sentence), isWorkedOn: false };
};

const progressOfEnd = ({ code }: DnsProblem): Progress => {
  const title = problemTitles[code];
  const advice = 'We no longer retry. Fix that, then press Re-verify.';
  return yourTurn(title, `There is no certificate: ${lowered(title)}. ${advice}`);
};

const progressOfFailure = ({ code, actor }: DnsProblem): Progress => {
  const title = problemTitles[code];
  const waits = `The certificate has to wait: ${lowered(title)}.`;
  return actor === 'customer'
    ? yourTurn(title, `${waits} Fix that; we retry automatically.`)
    : { ...ourTurn(title, `${waits} We retry automatically.`), isWorkedOn: false };
};

/**
 * What each fact of a live domain has to say, before its health does. A new fact does not compile until it is decided
 * here.
 */
const saidOf: Readonly<
  Record<OwnFact<'live'>, (domain: DomainIn<'live'>) => Progress | undefined>
> = {
  // The steps show both.
  verifiedAt: () => undefined,
  liveSince: () => undefined,
};

export const progressOfLive = (
  domain: DomainIn<'live'>,
  now: Date,
  redirectsTo: string | undefined,
): Progress => {
  const [told] = Object.values(saidOf).flatMap((say) => say(domain) ?? []);
  if (told) return told;
  const health = healthOf(domain, now);
  switch (health?.kind) {
    case 'certificate_expired': {
      const because = health.problem ? `: ${lowered(problemTitles[health.problem.code])}` : '';
      return yourTurn(
        'Certificate has expired',
        `The certificate has expired and could not be renewed${because}. Browsers warn your visitors.`,
      );
    }
    case 'at_risk': {
      const { code, actor } = health.problem;
      const title = problemTitles[code];
      const sentence = `${visitorsGet(redirectsTo)}, but its certificate cannot be renewed: ${lowered(title)}.`;
      return { ...yourTurn(title, sentence), actor };
    }
    case 'healthy':
    case undefined:
      return progressOfHealthy(domain, redirectsTo);
  }
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

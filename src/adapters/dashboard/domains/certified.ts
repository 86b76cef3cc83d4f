import { limitInWords } from '../../../domains/domain/certificates/budget-words.ts';
import type { Hold } from '../../../domains/domain/certificates/ca-budget.ts';
import type { CustomDomain, DomainIn } from '../../../domains/domain/attachment/custom-domain.ts';
import { healthOf } from '../../../domains/domain/attachment/health.ts';
import { isBlocking, type DnsProblem } from '../../../domains/domain/dns/problem.ts';
import { problemTitles } from './problem-titles.ts';
import { lowered, ourTurn, yourTurn, type Progress } from './turn.ts';
import { exact } from '../frame/parts.ts';

const usually = 'That usually takes less than two minutes.';

/** The notice for a domain that waits for its certificate. */
export const progressOfVerified = ({ certificate, dns }: DomainIn<'verified'>): Progress => {
  const { isOrdered, waitsForDns, nextAttemptAt, status } = certificate;
  const problem = certificate.problem ?? dns.report?.problems.find(isBlocking);
  switch (status) {
    case 'none':
      return ourTurn(
        'Certificate comes next',
        'The DNS is correct. The certificate is ordered next.',
      );
    case 'issuing':
      return ourTurn(
        'Certificate is being issued',
        isOrdered
          ? `The certificate authority is checking that the domain points to this service. ${usually}`
          : `The DNS is correct, and the certificate is being ordered. ${usually}`,
      );
    case 'issued':
      return ourTurn('Going live', 'The certificate is issued. The domain goes live in a moment.');
    case 'failed':
      return problem
        ? progressOfFailure(problem, waitsForDns || nextAttemptAt !== undefined)
        : yourTurn('Certificate failed', 'The last attempt at the certificate failed.');
  }
};

/** For a certificate that only has to wait; failures have their own message. */
export const progressOfHeldUp = (
  domain: CustomDomain,
  heldUpBy: Hold | undefined,
): Progress | undefined => {
  const { status } = domain.certificate;
  if (!heldUpBy || domain.state !== 'verified' || status === 'failed') return undefined;
  const limit = limitInWords(heldUpBy.reason);
  const sentence = `The DNS is correct. The certificate waits, because a limit is reached: ${limit}. It is ordered automatically, from ${exact(heldUpBy.nextAt)} on.`;
  return { ...ourTurn(`Certificate waits: ${limit}`, sentence), isWorkedOn: false };
};

const progressOfFailure = ({ code, actor }: DnsProblem, goesOn: boolean): Progress => {
  const title = problemTitles[code];
  if (!goesOn) {
    const advice = 'We no longer retry. Fix that, then press Re-verify.';
    return yourTurn(title, `There is no certificate: ${lowered(title)}. ${advice}`);
  }
  const waits = `The certificate has to wait: ${lowered(title)}.`;
  return actor === 'customer'
    ? yourTurn(title, `${waits} Fix that; we retry automatically.`)
    : { ...ourTurn(title, `${waits} We retry automatically.`), isWorkedOn: false };
};

/** The notice for a live domain. */
export const progressOfLive = (domain: DomainIn<'live'>, now: Date): Progress => {
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
      const sentence = `Your site is served over HTTPS, but its certificate cannot be renewed: ${lowered(title)}.`;
      return { ...yourTurn(title, sentence), actor };
    }
    case 'healthy':
    case undefined:
      return progressOfHealthy(domain);
  }
};

const progressOfHealthy = ({ certificate: { isOrdered } }: DomainIn<'live'>): Progress => ({
  short: 'Served over HTTPS',
  sentence: `Your site is served over HTTPS. Its certificate ${isOrdered ? 'is being renewed' : 'renews automatically'}.`,
  actor: 'nobody',
  tone: 'good',
  isWorkedOn: isOrdered,
});

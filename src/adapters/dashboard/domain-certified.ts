import { healthOf } from '../../sites/domain/domain-health.ts';
import { isBlocking, type DnsProblem } from '../../sites/domain/dns-problem.ts';
import { problemTitles } from './domain-problem-titles.ts';
import { lowered, ourTurn, yourTurn, type DomainIn, type Progress } from './domain-turn.ts';

const usually = 'That usually takes less than two minutes.';

/** What is said of a domain that waits for its certificate. */
export const progressOfVerified = ({ certificate, dns }: DomainIn<'verified'>): Progress => {
  const { order, waitsForDns, nextAttemptAt, status } = certificate;
  const problem = certificate.problem ?? dns.report?.problems.find(isBlocking);
  switch (status) {
    case 'none':
      return ourTurn(
        'Certificate comes next',
        'The DNS is right. The certificate is ordered next.',
      );
    case 'issuing':
      return ourTurn(
        'Certificate is being issued',
        order
          ? `The certificate authority looks whether the name leads to us. ${usually}`
          : `The DNS is right, and the certificate is being ordered. ${usually}`,
      );
    case 'issued':
      return ourTurn('Goes live', 'The certificate is there. The domain goes live in a moment.');
    case 'failed':
      return problem
        ? progressOfFailure(problem, waitsForDns || nextAttemptAt !== undefined)
        : yourTurn('Certificate failed', 'The last attempt at the certificate failed.');
  }
};

const progressOfFailure = ({ code, actor }: DnsProblem, goesOn: boolean): Progress => {
  const title = problemTitles[code];
  if (!goesOn) {
    const advice = 'We have stopped trying. Put that right, then press Re-verify.';
    return yourTurn(title, `There is no certificate: ${lowered(title)}. ${advice}`);
  }
  const waits = `The certificate has to wait: ${lowered(title)}.`;
  return actor === 'customer'
    ? yourTurn(title, `${waits} Put that right; we try again by ourselves.`)
    : { ...ourTurn(title, `${waits} We try again by ourselves.`), isWorkedOn: false };
};

/** What is said of a domain that is served. */
export const progressOfLive = (domain: DomainIn<'live'>, now: Date): Progress => {
  const health = healthOf(domain, now);
  switch (health?.kind) {
    case 'certificate_expired': {
      const because = health.problem ? `: ${lowered(problemTitles[health.problem.code])}` : '';
      return yourTurn(
        'Certificate has ended',
        `The certificate has ended and could not be renewed${because}. Browsers warn your visitors.`,
      );
    }
    case 'at_risk': {
      const { code, actor } = health.problem;
      const title = problemTitles[code];
      const sentence = `Visitors get your site, but like this its certificate cannot be renewed: ${lowered(title)}.`;
      return { ...yourTurn(title, sentence), actor };
    }
    case 'healthy':
    case undefined:
      return progressOfHealthy(domain);
  }
};

const progressOfHealthy = ({ certificate: { order } }: DomainIn<'live'>): Progress => ({
  short: 'Served over HTTPS',
  sentence: `Visitors get your site over HTTPS. Its certificate is ${order ? 'being renewed' : 'renewed by itself'}.`,
  actor: 'nobody',
  tone: 'good',
  isWorkedOn: order !== undefined,
});

import {
  type Attempts,
  isRenewal,
  statusOf,
  workOn,
  type CertificateStatus,
  type WantedWork,
} from '../../../domains/domain/certificates/certificate-status.ts';
import {
  limitInWords,
  caBudgets,
  type BudgetView,
} from '../../../domains/domain/certificates/ca-budget.ts';
import { type DomainHealth, isOnlyOverHttp } from '../../../domains/domain/attachment/serving.ts';
import { earliestAttempt } from '../../../domains/domain/attachment/domain-certificate.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { DomainView } from '../../../domains/use-cases/show-domain.ts';
import { problemTitles } from '../../../domains/domain/dns/problem.ts';
import { html, type Child, type Html } from '../frame/html.ts';
import {
  atClock,
  planned,
  badge,
  folded,
  fullTime,
  time,
  type Tone,
  facts,
  known,
  type Fact,
} from '../frame/parts.ts';

const tones: Readonly<Record<ReturnType<typeof statusOf>, Tone>> = {
  none: 'idle',
  issuing: 'busy',
  issued: 'good',
  failed: 'bad',
};

export const certificateSection = ({ domain, budget, records }: DomainView, now: Date): Html => {
  const { certificate } = domain;
  const isEarly = records.some(({ purpose }) => purpose === 'delegation');
  const all = factsOf(domain, budget, now);
  const content = html`${certificate.kind === 'none' && html`<p class="hint">${whenOrdered(domain, isEarly)}</p>`}
    ${all.length > 0 && facts(all)}
    ${(certificate.kind === 'wanted' || budget.used > 0) && budgetMeter(budget, now)}`;
  const more = standingBadge(certificate, now);
  return folded({ id: 'certificate', title: 'Certificate', more }, content);
};

const whenOrdered = (domain: CustomDomain, isEarly: boolean): string => {
  if (isOnlyOverHttp(domain))
    return 'It is ordered automatically once the DNS is correct. The CAA records of the name do not allow validation by DNS: to get it before your DNS points here, allow dns-01 in their validationmethods.';
  const early = isEarly ? ', or as soon as the record for validation by DNS is there' : '';
  return `It is ordered automatically once the DNS is correct${early}, and renewed before it expires.`;
};

const standingBadge = (certificate: CertificateStatus, now: Date): Html => {
  if (certificate.kind === 'issued' && certificate.notAfter <= now) return badge('expired', 'bad');
  const status = statusOf(certificate);
  return badge(status, tones[status]);
};

const factsOf = (domain: CustomDomain, { heldUpBy }: BudgetView, now: Date): readonly Fact[] => {
  const work = workOn(domain);
  const { attempts, problem } = work ?? {};
  const retryAt = attempts?.retryAt;
  return known([
    validity(domain.certificate, now),
    issuer(domain.certificate),
    attempts && ['Failed attempts', attemptsSince(attempts, now)],
    attempts && ['Last attempt', fullTime(attempts.lastAt, now)],
    problem && ['Problem', problemTitles[problem.code]],
    work && nextStep(domain, work, now),
    retryAt && retryAt > now && ['Authority accepts requests', html`again ${time(retryAt, now)}`],
    heldUpBy && [
      'Delayed by a limit',
      html`${limitInWords(heldUpBy.reason)}. We try again at ${atClock(heldUpBy.nextAt, now)}.`,
    ],
  ]);
};

const attemptsSince = ({ failed, firstAt }: Attempts, now: Date) =>
  failed === 0 ? 'none' : html`${failed}, the first ${time(firstAt, now)}`;

const validity = (certificate: CertificateStatus, now: Date): Fact | undefined => {
  if (certificate.kind !== 'issued') return undefined;
  const { notAfter } = certificate;
  return [notAfter <= now ? 'Expired' : 'Expires', fullTime(notAfter, now)];
};

const issuer = (certificate: CertificateStatus): Fact | undefined =>
  certificate.kind === 'issued' ? ['Issued by', certificate.issuedBy] : undefined;

const nextStep = (domain: CustomDomain, work: WantedWork, now: Date): Fact => {
  switch (work.step) {
    case 'planned': {
      const isFirstTry = isRenewal(domain) && !work.attempts;
      return [isFirstTry ? 'Renewal' : 'Next attempt', planned(work.at, now)];
    }
    case 'ordered':
      return ['Next attempt', planned(work.at, now)];
    case 'waits_for_dns':
      return ['Next attempt', afterNextCheck(domain, now)];
    case 'waits_for_owner':
      return [
        'Next attempt',
        `none until you press ${domain.state === 'added' ? 'Verify' : 'Re-verify'}`,
      ];
  }
};

/** Each attempt waits for a check that finds the DNS correct, because the authority limits failures. */
const afterNextCheck = (domain: CustomDomain, now: Date): Child => {
  const { report, nextCheckAt } = domain.dns;
  const earliest = earliestAttempt(domain);
  if (!earliest || !nextCheckAt) return 'when a check finds the DNS correct';
  return report?.verifiable
    ? html`${planned(earliest, now)}, if the DNS is still correct then`
    : html`when a check finds the DNS correct; the next check is ${planned(nextCheckAt, now)}`;
};

const budgetMeter = ({ used, of, nextAt }: BudgetView, now: Date): Html => {
  const { automaticFailures, manualFailures } = caBudgets;
  return html`<div class="stack">
    <p>${used} of ${of} failures used this hour${nextAt && nextAt > now && html`, next attempt at ${atClock(nextAt, now)}`}</p>
    <meter min="0" max="${of}" low="1" high="${automaticFailures.stopAt}" optimum="0" value="${used}" aria-label="Failures used this hour">${used} of ${of}</meter>
    <p class="hint">The authority refuses further attempts after ${of} failures in an hour. We stop earlier: after ${automaticFailures.stopAt} automatic attempts and ${manualFailures.stopAt} of yours.</p>
  </div>`;
};

export const healthBadges: Readonly<Record<DomainHealth['kind'], Html>> = {
  healthy: badge('healthy', 'good'),
  at_risk: badge('at risk', 'bad'),
  certificate_expired: badge('certificate expired', 'bad'),
};

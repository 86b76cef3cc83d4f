import type { CertificateStanding } from '../../../domains/domain/certificates/standing.ts';
import { limitInWords } from '../../../domains/domain/certificates/budget-words.ts';
import type { BudgetView } from '../../../domains/domain/certificates/ca-budget.ts';
import { caBudgets } from '../../../domains/domain/certificates/ca-budget.ts';
import { earliestAttempt } from '../../../domains/domain/certificates/plan.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { DomainView } from '../../../domains/use-cases/show-domain.ts';
import { problemTitles } from './problem-titles.ts';
import { atClock, planned } from './words.ts';
import { html, nothing, type Child, type Html } from '../frame/html.ts';
import { badge, fullTime, time, type Tone, facts, type Fact } from '../frame/parts.ts';

const tones: Readonly<Record<CertificateStanding['status'], Tone>> = {
  none: 'idle',
  issuing: 'busy',
  issued: 'good',
  failed: 'bad',
};

/** The certificate of a domain, and how much of the authority's rate limits it has used. */
export const certificateSection = ({ domain, budget }: DomainView, now: Date): Html => {
  const { certificate, state } = domain;
  const known = [...factsOf(domain, now), ...holdOf(budget, now)];
  return html`<section class="card" id="all-of-certificate" aria-labelledby="certificate">
    <div class="row"><h2 id="certificate">Certificate</h2>${standingBadge(certificate, now)}</div>
    ${state === 'added' && html`<p class="hint">It is ordered automatically once the DNS is correct, and renewed before it expires.</p>`}
    ${known.length > 0 && facts(known)}
    ${(state === 'verified' || budget.used > 0) && budgetMeter(budget, now)}
  </section>`;
};

const standingBadge = ({ status, notAfter }: CertificateStanding, now: Date): Html =>
  status === 'issued' && notAfter && notAfter <= now
    ? badge('expired', 'bad')
    : badge(status, tones[status]);

const factsOf = (domain: CustomDomain, now: Date): readonly Fact[] => {
  const { attempts, problem, retryAt } = domain.certificate;
  return [
    ...validity(domain.certificate, now),
    ...(attempts
      ? [
          ['Failed attempts', attemptsSince(attempts, now)] as const,
          ['Last attempt', fullTime(attempts.lastAt, now)] as const,
        ]
      : []),
    ...(problem ? [['Problem', problemTitles[problem.code]] as const] : []),
    ...nextStep(domain, now),
    ...(retryAt && retryAt > now
      ? [['Authority accepts requests', html`again ${time(retryAt, now)}`] as const]
      : []),
  ];
};

const attemptsSince = (
  { failed, firstAt }: NonNullable<CertificateStanding['attempts']>,
  now: Date,
) => (failed === 0 ? 'none' : html`${failed}, the first ${time(firstAt, now)}`);

const validity = ({ notAfter }: CertificateStanding, now: Date): readonly Fact[] => {
  if (!notAfter) return [];
  return [[notAfter <= now ? 'Expired' : 'Expires', fullTime(notAfter, now)]];
};

const nextStep = (domain: CustomDomain, now: Date): readonly Fact[] => {
  const { status, nextAttemptAt, waitsForDns, isOrdered, attempts } = domain.certificate;
  if (waitsForDns) return [['Next attempt', afterNextCheck(domain, now)]];
  if (!nextAttemptAt)
    return status === 'failed' ? [['Next attempt', 'none until you press Re-verify']] : [];
  const isRenewal = status === 'issued' && !isOrdered && !attempts;
  return [[isRenewal ? 'Renewal' : 'Next attempt', planned(nextAttemptAt, now)]];
};

const holdOf = ({ heldUpBy }: BudgetView, now: Date): readonly Fact[] =>
  heldUpBy
    ? [
        [
          'Held up by a limit',
          html`${limitInWords(heldUpBy.reason)}. We try again at ${atClock(heldUpBy.nextAt, now)}.`,
        ],
      ]
    : [];

/** An attempt is made only after a check that finds the DNS correct, as the authority charges for failures. */
const afterNextCheck = (domain: CustomDomain, now: Date): Child => {
  const { report, nextCheckAt } = domain.dns;
  const earliest = earliestAttempt(domain);
  if (!earliest || !nextCheckAt) return 'when a check finds the DNS correct';
  return report?.verifiable
    ? html`${planned(earliest, now)}, if the DNS is still correct then`
    : html`when a check finds the DNS correct; the next check is ${planned(nextCheckAt, now)}`;
};

/** Used failures of the number that the authority allows; we stop before its limit. */
const budgetMeter = ({ used, of, nextAt }: BudgetView, now: Date): Html => {
  const { automaticFailures, manualFailures } = caBudgets;
  return html`<div class="stack">
    <p>${used} of ${of} failures used this hour${nextAt && nextAt > now && html`, next attempt at ${atClock(nextAt, now)}`}</p>
    <meter min="0" max="${of}" low="1" high="${automaticFailures.stopAt}" optimum="0" value="${used}" aria-label="Failures used this hour">${used} of ${of}</meter>
    <p class="hint">The authority refuses further attempts after ${of} failures in an hour. We stop earlier: after ${automaticFailures.stopAt} automatic attempts and ${manualFailures.stopAt} of yours.</p>
  </div>`;
};

export const healthBadge = ({ health }: DomainView): Html => {
  switch (health?.kind) {
    case 'healthy':
      return badge('healthy', 'good');
    case 'at_risk':
      return badge('at risk', 'bad');
    case 'certificate_expired':
      return badge('certificate expired', 'bad');
    case undefined:
      return nothing;
  }
};

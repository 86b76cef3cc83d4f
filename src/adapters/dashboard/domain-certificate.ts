import type { CertificateStanding } from '../../sites/domain/certificate-standing.ts';
import type { BudgetView } from '../../sites/domain/ca-budget.ts';
import { caBudgets } from '../../sites/domain/ca-budget.ts';
import type { DomainView } from '../../sites/use-cases/show-domain.ts';
import { problemTitles } from './domain-problem-titles.ts';
import { atClock, planned } from './domain-words.ts';
import { html, nothing, type Child, type Html } from './html.ts';
import { badge, counted, day, time, type Tone } from './parts.ts';

const tones: Readonly<Record<CertificateStanding['status'], Tone>> = {
  none: 'idle',
  issuing: 'busy',
  issued: 'good',
  failed: 'bad',
};

/** How the domain stands with its certificate, and with the patience of the authority. */
export const certificateSection = ({ domain, budget }: DomainView, now: Date): Html => {
  const { certificate, state } = domain;
  const facts = factsOf(certificate, now);
  return html`<section class="card" aria-labelledby="certificate">
    <div class="row middle"><h2 id="certificate">Certificate</h2>${standingBadge(certificate, now)}</div>
    ${state === 'added' && html`<p class="quiet">Ordered by itself as soon as the DNS is right, and renewed in time. There is nothing to do for you.</p>`}
    ${facts.length > 0 && html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`}
    ${(state === 'verified' || budget.used > 0) && budgetMeter(budget, now)}
  </section>`;
};

const standingBadge = ({ status, notAfter }: CertificateStanding, now: Date): Html =>
  status === 'issued' && notAfter && notAfter <= now
    ? badge('issued, has ended', 'bad')
    : badge(status, tones[status]);

type Fact = readonly [name: string, value: Child];

const factsOf = (standing: CertificateStanding, now: Date): readonly Fact[] => {
  const { attempts, problem, retryAt } = standing;
  return [
    ...validity(standing, now),
    ...(attempts
      ? [
          ['Failed attempts', attemptsSince(attempts, now)] as const,
          ['Last attempt', time(attempts.lastAt, now)] as const,
        ]
      : []),
    ...(problem ? [['Problem', problemTitles[problem.code]] as const] : []),
    ...nextStep(standing, now),
    ...(retryAt && retryAt > now
      ? [['The authority listens', html`again ${time(retryAt, now)}`] as const]
      : []),
  ];
};

const attemptsSince = (
  { failed, firstAt }: NonNullable<CertificateStanding['attempts']>,
  now: Date,
) => (failed === 0 ? 'none' : html`${failed} since ${time(firstAt, now)}`);

const dayMs = 24 * 60 * 60_000;

const validity = ({ notAfter }: CertificateStanding, now: Date): readonly Fact[] => {
  if (!notAfter) return [];
  const left = Math.floor((notAfter.getTime() - now.getTime()) / dayMs);
  const inWords = notAfter <= now ? 'has ended' : `${counted(left, 'day')} left`;
  return [['Valid until', html`${day(notAfter)} (${inWords})`]];
};

const nextStep = (standing: CertificateStanding, now: Date): readonly Fact[] => {
  const { status, nextAttemptAt, waitsForDns, order } = standing;
  if (waitsForDns) return [['Next attempt', 'as soon as the DNS allows it']];
  if (!nextAttemptAt)
    return status === 'failed' ? [['Next attempt', 'none: it waits for you']] : [];
  const isRenewal = status === 'issued' && !order && !standing.attempts;
  return [[isRenewal ? 'Renewal' : 'Next attempt', planned(nextAttemptAt, now)]];
};

/** What is used of the failures that the authority allows; we stop before it does. */
const budgetMeter = ({ used, of, nextAt }: BudgetView, now: Date): Html => {
  const { automaticFailures, manualFailures } = caBudgets;
  return html`<div class="budget">
    <p>${used} of ${of} failures used this hour${nextAt && nextAt > now && html`, next attempt at ${atClock(nextAt, now)}`}</p>
    <meter min="0" max="${of}" low="1" high="${automaticFailures.stopAt}" optimum="0" value="${used}" aria-label="Failures used this hour">${used} of ${of}</meter>
    <p class="hint">The authority refuses who fails ${of} times in an hour. So we stop before: after ${automaticFailures.stopAt} attempts of our own and ${manualFailures.stopAt} of yours.</p>
  </div>`;
};

export const healthBadge = ({ health }: DomainView): Html => {
  switch (health?.kind) {
    case 'healthy':
      return badge('healthy', 'good');
    case 'at_risk':
      return badge('at risk', 'bad');
    case 'certificate_expired':
      return badge('certificate has ended', 'bad');
    case undefined:
      return nothing;
  }
};

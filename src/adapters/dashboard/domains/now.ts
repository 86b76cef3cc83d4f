import type { RecordZones } from '../../../domains/domain/dns/records.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { healthBadges } from './certificate.ts';
import { progressOfHeldUp } from './certified.ts';
import { leftRecords, whyDelete } from './left-records.ts';
import { progressOf } from './progress.ts';
import type { Progress } from './turn.ts';
import { stepLine, stepsOf } from './steps.ts';
import { actorWords } from './words.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { planned, exact, time, facts, known, type Fact } from '../frame/parts.ts';
import type { DomainView } from '../../../domains/use-cases/show-domain.ts';

/** The current state of a domain, who must act, and the next automatic step. */
export const nowSection = (view: DomainView, now: Date, verify: Html): Html => {
  const { domain } = view;
  const progress =
    progressOfHeldUp(domain, view.budget.heldUpBy) ??
    progressOf(domain, now, view.role.redirectsTo);
  return html`<section class="card" aria-label="Status">
    ${stepLine(stepsOf(domain, now), now)}
    <div class="row between"><p class="sentence">${progress.sentence}</p>${verify}</div>
    ${progress.isWorkedOn && html`<progress aria-label="${progress.short}"></progress>`}
    <dl class="row blocks">${factsOf(view, progress, now).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  </section>`;
};

const factsOf = (view: DomainView, { actor }: Progress, now: Date): readonly Fact[] => {
  const { nextAt } = view;
  const { lastCheckedAt } = view.domain.dns;
  return known([
    actor === 'nobody'
      ? ['To do', html`<strong>Nothing</strong>`]
      : ['Who acts', html`<strong>${actorWords[actor]}</strong>`],
    view.health && ['Health', healthBadges[view.health.kind]],
    lastCheckedAt && ['DNS checked', time(lastCheckedAt, now)],
    nextAt && ['Next automatic check', planned(nextAt, now)],
  ]);
};

export const goneSection = ({ domain }: DomainView, zones: RecordZones, now: Date): Html => {
  if (domain.state !== 'removed') return nothing;
  const { sentence } = progressOf(domain, now);
  return html`<section class="card" aria-label="Status">
    <p class="sentence">${sentence}</p>
    ${facts([
      ['Removed', html`${time(domain.removedAt, now)} (${exact(domain.removedAt)})`],
      ['Certificate and key', 'destroyed'],
    ])}
    <h2>Delete at your DNS provider</h2>
    <p class="hint">${whyDelete}</p>
    ${leftRecords(domain, zones)}
  </section>`;
};

/** An attachment of a name that was added again since. @param path of the newest one */
export const earlierSection = (
  domain: CustomDomain,
  newest: CustomDomain,
  { path, now }: { readonly path: string; readonly now: Date },
): Html => {
  if (domain.state !== 'removed') return nothing;
  return html`<section class="card" aria-label="Status">
    <p class="sentence">This is an earlier attachment of the domain, which was added again ${time(newest.addedAt, now)}. <a href="${path}">Go to the newest attachment</a></p>
    ${facts([
      ['Added', html`${time(domain.addedAt, now)} (${exact(domain.addedAt)})`],
      ['Removed', html`${time(domain.removedAt, now)} (${exact(domain.removedAt)})`],
      ['Why', progressOf(domain, now).short],
    ])}
  </section>`;
};

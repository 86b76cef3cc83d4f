import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isReadyAt } from '../../../domains/domain/attachment/serving.ts';
import type { RecordZones } from '../../../domains/domain/dns/records.ts';
import type { DomainView } from '../../../domains/use-cases/show-domain.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { end, type Fact, facts, fullTime, known, planned, time } from '../frame/parts.ts';
import { healthBadges } from './certificate.ts';
import { type Progress, progressOf, progressOfHeldUp } from './progress.ts';
import { leftRecords, whyDelete } from './records.ts';
import { actorWords } from './words.ts';

export const nowSection = (view: DomainView, now: Date, verify: Html): Html => {
  const { domain } = view;
  const progress =
    progressOfHeldUp(domain, view.budget.heldUpBy) ??
    progressOf(domain, now, view.role.redirectsTo);
  return html`<section class="stack" aria-label="Status">
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
  return html`<section class="stack" aria-label="Status">
    <p class="sentence">${sentence}</p>
    ${facts([
      ['Removed', fullTime(domain.removedAt, now)],
      ['Certificate and key', 'destroyed'],
    ])}
    <h2>Delete at your DNS provider</h2>
    <p class="hint">${whyDelete}</p>
    ${leftRecords(domain, zones)}
  </section>`;
};

/** Shows an attachment whose name was added again later. @param path of the newest attachment */
export const earlierSection = (
  domain: CustomDomain,
  newest: CustomDomain,
  { path, now }: { readonly path: string; readonly now: Date },
): Html => {
  if (domain.state !== 'removed') return nothing;
  return html`<section class="stack" aria-label="Status">
    <p class="sentence">This is an earlier attachment of the domain, which was added again ${time(newest.addedAt, now)}. <a href="${path}">Go to the newest attachment</a></p>
    ${facts([
      ['Added', fullTime(domain.addedAt, now)],
      ['Removed', fullTime(domain.removedAt, now)],
      ['Why', progressOf(domain, now).short],
    ])}
  </section>`;
};

export interface Step {
  readonly name: 'added' | 'verified' | 'certificate' | 'live';
  readonly standing: 'done' | 'now' | 'failed' | 'ahead';
  readonly at?: Date | undefined;
}

const ahead = (...names: readonly Step['name'][]): readonly Step[] =>
  names.map((name) => ({ name, standing: 'ahead' }));

export const stepsOf = (domain: CustomDomain, now: Date): readonly Step[] => {
  const standing = progressOf(domain, now).tone === 'bad' ? 'failed' : 'now';
  const added = done('added', domain.addedAt);
  switch (domain.state) {
    case 'added': {
      return isReadyAt(domain, now)
        ? [
            added,
            done('certificate', domain.certificate.notAfter),
            { name: 'verified', standing },
            ...ahead('live'),
          ]
        : [added, { name: 'verified', standing }, ...ahead('certificate', 'live')];
    }
    case 'verified':
      return [added, verified(domain), { name: 'certificate', standing }, ...ahead('live')];
    case 'live': {
      const { notAfter } = domain.certificate;
      return [
        added,
        verified(domain),
        { name: 'certificate', standing: notAfter <= now ? 'failed' : 'done', at: notAfter },
        done('live', domain.liveSince),
      ];
    }
    case 'removed':
      return [];
  }
};

const done = (name: Step['name'], at: Date): Step => ({ name, standing: 'done', at });

const verified = ({ verifiedAt }: { readonly verifiedAt: Date }): Step =>
  done('verified', verifiedAt);

const spoken: Readonly<Record<Step['standing'], string>> = {
  done: 'done',
  now: 'in progress',
  failed: 'failed',
  ahead: 'not yet',
};

export const stepLine = (steps: readonly Step[], now: Date): Html =>
  html`<ol class="steps" aria-label="Progress">
    ${steps.map(
      ({ name, standing, at }) =>
        html`<li class="${standing}" ${standing === 'now' && html`aria-current="step"`}>
          <span>${name}<span class="visually-hidden">: ${spoken[standing]}</span></span>
          ${at && html`<small>${name === 'certificate' ? html`until ${end(at, now)}` : time(at, now)}</small>`}
        </li>`,
    )}
  </ol>`;

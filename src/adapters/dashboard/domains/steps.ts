import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isReadyAt } from '../../../domains/domain/attachment/serving.ts';
import { progressOf } from './progress.ts';
import { html, type Html } from '../frame/html.ts';
import { end, time } from '../frame/parts.ts';

export interface Step {
  readonly name: 'added' | 'verified' | 'certificate' | 'live';
  /** `failed`: it cannot continue without a change. */
  readonly standing: 'done' | 'now' | 'failed' | 'ahead';
  readonly at?: Date | undefined;
}

const ahead = (...names: readonly Step['name'][]): readonly Step[] =>
  names.map((name) => ({ name, standing: 'ahead' }));

/** The steps of a domain and its progress; a removed domain has none. */
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

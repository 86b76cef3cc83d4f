import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { progressOf } from './progress.ts';
import { html, type Html } from '../frame/html.ts';
import { day, time } from '../frame/parts.ts';

export interface Step {
  readonly name: 'added' | 'verified' | 'certificate' | 'live';
  /** `failed`: it cannot continue without a change. */
  readonly standing: 'done' | 'now' | 'failed' | 'ahead';
  readonly at?: Date | undefined;
}

/** The steps of a domain and its progress; a removed domain has none. */
export const stepsOf = (domain: CustomDomain, now: Date): readonly Step[] => {
  const { addedAt } = domain;
  const standing = progressOf(domain, now).tone === 'bad' ? 'failed' : 'now';
  const added: Step = { name: 'added', standing: 'done', at: addedAt };
  switch (domain.state) {
    case 'added':
      return [
        added,
        { name: 'verified', standing },
        { name: 'certificate', standing: 'ahead' },
        { name: 'live', standing: 'ahead' },
      ];
    case 'verified':
      return [
        added,
        { name: 'verified', standing: 'done', at: domain.verifiedAt },
        { name: 'certificate', standing },
        { name: 'live', standing: 'ahead' },
      ];
    case 'live': {
      const { notAfter } = domain.certificate;
      const hasEnded = notAfter <= now;
      return [
        added,
        { name: 'verified', standing: 'done', at: domain.verifiedAt },
        { name: 'certificate', standing: hasEnded ? 'failed' : 'done', at: notAfter },
        { name: 'live', standing: 'done', at: domain.liveSince },
      ];
    }
    case 'removed':
      return [];
  }
};

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
          ${at && html`<small>${name === 'certificate' ? html`until ${day(at)}` : time(at, now)}</small>`}
        </li>`,
    )}
  </ol>`;

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

const ahead = (...names: readonly Step['name'][]): readonly Step[] =>
  names.map((name) => ({ name, standing: 'ahead' }));

/** The steps of a domain and its progress; a removed domain has none. */
export const stepsOf = (domain: CustomDomain, now: Date): readonly Step[] => {
  const standing = progressOf(domain, now).tone === 'bad' ? 'failed' : 'now';
  const added: Step = { name: 'added', standing: 'done', at: domain.addedAt };
  switch (domain.state) {
    case 'added':
      return [added, { name: 'verified', standing }, ...ahead('certificate', 'live')];
    case 'verified':
      return [added, verified(domain), { name: 'certificate', standing }, ...ahead('live')];
    case 'live': {
      const { notAfter } = domain.certificate;
      return [
        added,
        verified(domain),
        { name: 'certificate', standing: notAfter <= now ? 'failed' : 'done', at: notAfter },
        { name: 'live', standing: 'done', at: domain.liveSince },
      ];
    }
    case 'removed':
      return [];
  }
};

const verified = ({ verifiedAt }: { readonly verifiedAt: Date }): Step => ({
  name: 'verified',
  standing: 'done',
  at: verifiedAt,
});

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

import { domainToUnicode } from 'node:url';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { Responsible, Severity } from '../../../domains/domain/dns/problem.ts';
import { shownHost } from '../../../domains/domain/names/hostname.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, exact, minute, type Tone } from '../frame/parts.ts';

const tones: Readonly<Record<CustomDomain['state'], Tone>> = {
  added: 'busy',
  verified: 'busy',
  live: 'good',
  removed: 'idle',
};

export const stateBadge = ({ state }: Pick<CustomDomain, 'state'>): Html =>
  badge(state === 'added' ? 'added, awaiting DNS' : state, tones[state]);

export const actorWords: Readonly<Record<Responsible, string>> = {
  customer: 'You',
  us: 'We do, automatically',
  nobody: 'Nobody',
};

export const severityTones: Readonly<Record<Severity, Tone>> = {
  blocking: 'bad',
  warning: 'busy',
  ours: 'idle',
  final: 'bad',
};

export const atClock = (at: Date, now: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${exact(at)}">${minute(at, now)}</time>`;

type Named = Pick<CustomDomain, 'host' | 'unicodeHost'>;

/** The U-labels, and beside them the A-labels where they differ: letters of two scripts can look the same. */
export const shownName = ({ host, unicodeHost }: Named): Html =>
  host === unicodeHost ? html`${host}` : html`${unicodeHost} <span class="ascii">(${host})</span>`;

/** The same without markup, for titles. */
export const nameInText = ({ host, unicodeHost: unicode }: Named): string =>
  shownHost({ host, unicode });

/** A host name that is known by its A-labels alone. */
export const nameOf = (host: string): Named => ({
  host,
  unicodeHost: domainToUnicode(host) || host,
});

import { domainToUnicode } from 'node:url';
import {
  type CustomDomain,
  stateInWords,
} from '../../../domains/domain/attachment/custom-domain.ts';
import type { Responsible, Severity } from '../../../domains/domain/dns/problem.ts';
import { hostIn, isAbsolute } from '../../../domains/domain/redirects/settings.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { type Child, html, type Html } from '../frame/html.ts';
import type { ListPlace } from '../frame/list-parts.ts';
import { badge, head, type Tone } from '../frame/parts.ts';
import { domainPath, domainsPath } from './paths.ts';

const tones: Readonly<Record<CustomDomain['state'], Tone>> = {
  added: 'busy',
  verified: 'busy',
  live: 'good',
  removed: 'idle',
};

export const stateBadge = ({ state }: Pick<CustomDomain, 'state'>): Html =>
  badge(stateInWords({ state }), tones[state]);

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

type Named = Pick<CustomDomain, 'host' | 'unicodeHost'>;

/** Shows the U-labels, followed by the A-labels if they differ, because letters of two scripts can look the same. */
export const shownName = ({ host, unicodeHost }: Named): Html =>
  host === unicodeHost ? html`${host}` : html`${unicodeHost} <span class="ascii">(${host})</span>`;

/** Names a host that is known only by its A-labels. */
export const nameOf = (host: string): Named => ({
  host,
  unicodeHost: domainToUnicode(host) || host,
});

/** Shows the target of a redirect. An address stays unchanged, followed by its host in U-labels if they differ. */
export const shownTarget = (to: string): Html => {
  if (!isAbsolute(to)) return shownName(nameOf(to));
  const { host, unicodeHost } = nameOf(hostIn(to));
  return html`${to}${host !== unicodeHost && html` <span class="ascii">(${unicodeHost})</span>`}`;
};

interface DomainHead {
  readonly title?: Child;
  readonly actions?: Child;
  readonly place: ListPlace;
}

export const domainHead = (
  { name, slug }: Project,
  domain: CustomDomain,
  { title, actions, place }: DomainHead,
): Html =>
  head(title ?? shownName(domain), undefined, {
    trail: [
      ['Projects', '/dashboard'],
      [name, `/dashboard/projects/${slug}`],
      ['Domains', domainsPath(slug) + place],
      ...(title === undefined
        ? []
        : [[shownName(domain), domainPath(slug, domain.id) + place] as const]),
    ],
    beside: title === undefined && stateBadge(domain),
    actions,
  });

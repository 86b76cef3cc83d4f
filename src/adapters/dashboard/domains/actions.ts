import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { reverifyAllowedAt, verifyAllowedAt } from '../../../domains/domain/attachment/checks.ts';
import { isVisited } from '../../../domains/domain/attachment/serving.ts';
import type { DomainRole } from '../../../domains/use-cases/domain-settings.ts';
import { domainPath, settingPath } from './paths.ts';
import { nameInText } from './words.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { time } from '../frame/parts.ts';
import type { Refusal } from '../frame/screen.ts';

export interface VerifyOptions {
  readonly action: string;
  readonly now: Date;
  readonly refusal: Refusal | undefined;
  /** Whether live domains get the button too. */
  readonly alsoLive?: boolean;
}

export const verifyAnchor = ({ id }: Pick<CustomDomain, 'id'>): string => `verify-${id}`;

/** The button for the next step of a domain, with the earliest time to press it. */
export const verifyForm = (domain: CustomDomain, options: VerifyOptions): Html => {
  const { action, now, refusal, alsoLive = false } = options;
  const button = buttonOf(domain, now, alsoLive);
  if (!button) return nothing;
  const { label, readyAt } = button;
  const anchor = verifyAnchor(domain);
  const waits = readyAt > now;
  // A refusal names the time itself.
  const tells = waits && !refusal;
  // A long wait is shown, but the button stays enabled: pressing it explains the wait.
  const isShort = readyAt.getTime() - now.getTime() < 60_000;
  const isMain = label !== 'Check DNS' && (isShort || !waits);
  return html`<form method="post" action="${action}" class="row verify" id="${anchor}">
    <button ${isMain && html`class="main"`} title="${label} ${nameInText(domain)}"
      ${tells && html`aria-describedby="${anchor}-when"`} ${waits && isShort && html`data-ready-at="${readyAt.toISOString()}"`}>${label}</button>
    ${tells && html`<span class="hint" id="${anchor}-when" data-until="${readyAt.toISOString()}">available ${time(readyAt, now)}</span>`}
    ${refusal?.message !== undefined && html`<p class="error" role="alert" data-refusal>${refusal.message}</p>`}
  </form>`;
};

const buttonOf = (domain: CustomDomain, now: Date, alsoLive: boolean) => {
  switch (domain.state) {
    case 'added':
      return { label: 'Verify', readyAt: verifyAllowedAt(domain, now) };
    case 'verified':
      return { label: 'Re-verify', readyAt: reverifyAllowedAt(domain, now) };
    case 'live':
      return alsoLive ? { label: 'Check DNS', readyAt: verifyAllowedAt(domain, now) } : undefined;
    case 'removed':
      return undefined;
  }
};

/** What else can be done with a domain. */
export const domainMenu = (domain: CustomDomain, slug: string, { isPrimary }: DomainRole): Html => {
  const { id, host, unicodeHost, state } = domain;
  if (state === 'removed') return nothing;
  // Programs and screen readers find it by the A-labels; people read the U-labels.
  const shown = host !== unicodeHost && html`title="Actions for ${nameInText(domain)}"`;
  return html`<button type="button" class="menu-button" popovertarget="menu-${id}" aria-haspopup="menu" aria-label="Actions for ${host}" ${shown}>⋯</button>
    <div popover role="menu" class="menu" id="menu-${id}" aria-label="Actions for ${host}">
      ${isVisited(domain) && !isPrimary && html`<form role="none" method="post" action="${settingPath(slug, 'primary-domain')}"><input type="hidden" name="primary" value="${host}"><button role="menuitem">Make primary</button></form>`}
      <a role="menuitem" class="ending" href="${domainPath(slug, host)}/remove">Remove</a>
    </div>`;
};

import type { CustomDomain } from '../../sites/domain/custom-domain.ts';
import { reverifyAllowedAt, verifyAllowedAt } from '../../sites/domain/domain-verification.ts';
import { html, nothing, type Html } from './html.ts';
import { time } from './parts.ts';
import type { Refusal } from './screen.ts';

export interface VerifyOptions {
  readonly action: string;
  readonly now: Date;
  readonly refusal: Refusal | undefined;
  /** Whether a domain that is served can be looked at too. */
  readonly alsoLive?: boolean;
}

/** The button that goes on with a domain, with the time from when on it may be pressed. */
export const verifyForm = (domain: CustomDomain, options: VerifyOptions): Html => {
  const { action, now, refusal, alsoLive = false } = options;
  const button = buttonOf(domain, now, alsoLive);
  if (!button) return nothing;
  const { label, readyAt } = button;
  const id = `verify-${domain.id}`;
  const waits = readyAt > now;
  // A long wait is told rather than enforced here: whoever presses all the same hears why.
  const isShort = readyAt.getTime() - now.getTime() < 60_000;
  return html`<form method="post" action="${action}" class="verify">
    <button class="${label === 'Check DNS' ? 'plain' : 'main'}" title="${label} ${domain.host}"
      ${waits && html`aria-describedby="${id}"`} ${waits && isShort && html`data-ready-at="${readyAt.toISOString()}"`}>${label}</button>
    ${waits && html`<span class="hint" id="${id}" data-until="${readyAt.toISOString()}">again ${time(readyAt, now)}</span>`}
    ${refusal && html`<p class="error" role="alert" data-refusal>${refusal.message}</p>`}
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

/** What else can be done with a domain. @param path of its page */
export const domainMenu = ({ id, host, state }: CustomDomain, path: string): Html =>
  state === 'removed'
    ? nothing
    : html`<button type="button" class="menu-button" popovertarget="menu-${id}" aria-haspopup="menu" aria-label="Actions for ${host}">⋯</button>
      <div popover role="menu" class="menu" id="menu-${id}" aria-label="Actions for ${host}">
        <a role="menuitem" class="danger" href="${path}/remove">Remove</a>
      </div>`;

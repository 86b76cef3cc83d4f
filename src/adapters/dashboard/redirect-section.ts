import type { CustomDomain } from '../../sites/domain/custom-domain.ts';
import type { Redirect } from '../../sites/domain/domain-settings.ts';
import { isAbsolute } from '../../sites/domain/redirect-target.ts';
import type { DomainSettingsView } from '../../sites/use-cases/domain-settings.ts';
import { settingPath } from './domain-paths.ts';
import { html, type Html } from './html.ts';
import { badge, buttonForm } from './parts.ts';
import { primaryForm, redirectForm, statusMeanings } from './redirect-fields.ts';
import type { RedirectOptions } from './redirect-fields.ts';

/** Which domain the project is known by, and which ones lead elsewhere. */
export const redirectSection = (options: RedirectOptions): Html => {
  const { primary, redirects } = options.view.document.domains;
  return html`<section class="card" aria-labelledby="redirects">
    <h2 id="redirects">Redirects</h2>
    <p class="quiet">Lead one domain to another, such as www to the bare name. Path and query of the address are kept.</p>
    ${redirects.length > 0 && redirectTable(redirects, options)}
    ${redirectForm(options)}
    ${primaryForm(primary, options)}
  </section>`;
};

const redirectTable = (redirects: readonly Redirect[], options: RedirectOptions): Html => {
  const states = new Map(options.attached.map(({ host, state }) => [host, state]));
  return html`<div class="table">
    <table class="cards-on-phone">
      <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Status</th><th scope="col">Works</th><th scope="col"><span class="visually-hidden">Actions</span></th></tr></thead>
      <tbody>${redirects.map((redirect) => redirectRow(redirect, options, states))}</tbody>
    </table>
  </div>`;
};

const redirectRow = (
  redirect: Redirect,
  { slug, view }: RedirectOptions,
  states: ReadonlyMap<string, CustomDomain['state']>,
): Html => {
  const { from, to, status } = redirect;
  const why = whyIdle(redirect, view, states);
  return html`<tr>
    <td data-label="From"><code>${from}</code></td>
    <td data-label="To"><code>${to}</code></td>
    <td data-label="Status"><span title="${statusMeanings[status]}">${status}</span></td>
    <td data-label="Works">${why === undefined ? badge('active', 'good') : html`<div>${badge('suspended', 'busy')}<br><span class="hint">${why}</span></div>`}</td>
    <td class="actions">${buttonForm(`${settingPath(slug, 'redirects')}/${from}/delete#redirects`, 'Delete', { about: `Delete the redirect from ${from}` })}</td>
  </tr>`;
};

/** @returns undefined for one that works */
const whyIdle = (
  { from, to }: Redirect,
  { suspended }: DomainSettingsView,
  states: ReadonlyMap<string, CustomDomain['state']>,
): string | undefined => {
  const gone = [from, ...(isAbsolute(to) ? [] : [to])].find((host) => !states.has(host));
  if (gone !== undefined) {
    return `${gone} was removed, so this does nothing; the next change here drops it.`;
  }
  if (suspended[from] !== undefined) return suspended[from];
  return states.get(from) === 'live' ? undefined : `Works once ${from} is live.`;
};

import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { RedirectStatus } from '../../../domains/domain/redirects/settings.ts';
import type { DomainSettingsView } from '../../../domains/use-cases/domain-settings.ts';
import { settingPath } from './paths.ts';
import { shownName } from './words.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { field, formError, onceInput, select } from '../frame/form-parts.ts';
import { refusalOf, type Refusal } from '../frame/screen.ts';

export interface RedirectOptions {
  readonly slug: string;
  readonly view: DomainSettingsView;
  /** Those that are not removed. */
  readonly attached: readonly CustomDomain[];
  /** For the form that adds a redirect. */
  readonly once: string;
  readonly refusal: Refusal | undefined;
}

export const statusMeanings: Readonly<Record<RedirectStatus, string>> = {
  308: 'permanent, method kept',
  307: 'temporary, method kept',
  301: 'permanent, may become GET',
  302: 'temporary, may become GET',
};
/** The usual one first. */
const statuses = ([308, 307, 301, 302] as const).map(
  (status) => [String(status), `${status} ${statusMeanings[status]}`] as const,
);

/** Typed, or chosen from the domains of the project, which the browser offers. */
const ownDomain = { list: 'own-domains', autocomplete: 'off', maxlength: 300 } as const;
const from = { ...ownDomain, label: 'From', name: 'from', hint: 'A domain of this project.' };
const to = {
  ...ownDomain,
  ...{ label: 'To', name: 'to', maxlength: 1000 },
  hint: 'Another one, or an address such as https://example.com/shop.',
};

export const redirectForm = ({ slug, attached, once, refusal }: RedirectOptions): Html => {
  const refused = refusalOf(refusal, 'add-redirect');
  if (attached.length === 0) {
    return html`<p class="hint">Add a domain first: a redirect starts at one of them.</p>`;
  }
  return html`<form method="post" action="${settingPath(slug, 'redirects')}">
    ${formError(refused)}
    ${onceInput(once)}
    <div class="fields">
      ${field(from, refused)}
      ${field(to, refused)}
      ${select({ label: 'Status', name: 'status', value: '308', options: statuses }, refused)}
      <button>Add redirect</button>
    </div>
    <datalist id="own-domains">${attached.map(offered)}</datalist>
  </form>`;
};

const offered = ({ host, unicodeHost }: CustomDomain): Html =>
  html`<option value="${host}" ${host !== unicodeHost && html`label="${unicodeHost}"`}></option>`;

export const primaryForm = ({ slug, view, attached, refusal }: RedirectOptions): Html => {
  const refused = refusalOf(refusal, 'primary-domain');
  if (attached.length === 0) return nothing;
  const primary = attached.find(({ host }) => host === view.document.domains.primary);
  const hint = html`${primaryNow(primary, view)} The main domain of the project; save an empty field for none. It cannot be redirected.`;
  const value = primary?.host ?? '';
  const options = { ...ownDomain, label: 'Primary', name: 'primary', value, hint };
  return html`<form method="post" action="${settingPath(slug, 'primary-domain')}" class="fields primary-domain">
    ${formError(refused)}
    ${field({ ...options, required: false }, refused)}
    <button>Save</button>
  </form>`;
};

const primaryNow = (primary: CustomDomain | undefined, view: DomainSettingsView): Html => {
  if (primary) return html`Now ${shownName(primary)}.`;
  return view.isPrimaryOpen
    ? html`The first domain that goes live becomes it, unless you choose.`
    : html`None, as you chose.`;
};

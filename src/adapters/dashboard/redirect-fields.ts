import type { CustomDomain } from '../../sites/domain/custom-domain.ts';
import type { RedirectStatus } from '../../sites/domain/domain-settings.ts';
import type { DomainSettingsView } from '../../sites/use-cases/domain-settings.ts';
import { settingPath } from './domain-paths.ts';
import { html, nothing, type Html } from './html.ts';
import { field, formError, onceInput, select } from './parts.ts';
import { refusalOf, type Refusal } from './screen.ts';

export interface RedirectOptions {
  readonly slug: string;
  readonly view: DomainSettingsView;
  /** Those that are not removed. */
  readonly attached: readonly CustomDomain[];
  /** Of the form for a new redirect. */
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
const statuses = ([308, 307, 301, 302] as const).map((status) => ({
  value: String(status),
  text: `${status} ${statusMeanings[status]}`,
}));

/** One of the domains of the project: typed, or chosen from those that the browser offers. */
const ownDomain = { list: 'own-domains', autocomplete: 'off', maxlength: 300 } as const;

export const redirectForm = ({ slug, attached, once, refusal }: RedirectOptions): Html => {
  const refused = refusalOf(refusal, 'add-redirect');
  if (attached.length === 0) {
    return html`<p class="hint">Add a domain first: a redirect leads from one of them.</p>`;
  }
  return html`<form method="post" action="${settingPath(slug, 'redirects')}#redirects">
    ${formError(refused)}
    ${onceInput(once)}
    <div class="row redirect-fields">
      ${field({ ...ownDomain, label: 'From', name: 'from', placeholder: attached.at(-1)?.host ?? '' }, refused)}
      ${field({ label: 'To', name: 'to', list: 'own-domains', placeholder: 'shop.example.com or https://…', maxlength: 1000, autocomplete: 'off' }, refused)}
      ${select({ label: 'Status', name: 'status', value: '308', options: statuses }, refused)}
      <button>Add redirect</button>
    </div>
    <datalist id="own-domains">${attached.map(({ host }) => html`<option value="${host}"></option>`)}</datalist>
  </form>`;
};

export const primaryForm = (
  primary: string | null,
  { slug, attached, refusal }: RedirectOptions,
): Html => {
  const refused = refusalOf(refusal, 'primary-domain');
  if (attached.length === 0) return nothing;
  const hint = 'The domain that the project is known by; empty for none. It cannot lead elsewhere.';
  const options = { ...ownDomain, label: 'Primary', name: 'primary', value: primary ?? '', hint };
  return html`<form method="post" action="${settingPath(slug, 'primary-domain')}#redirects" class="row beside">
    ${formError(refused)}
    ${field({ ...options, required: false }, refused)}
    <button>Save</button>
  </form>`;
};

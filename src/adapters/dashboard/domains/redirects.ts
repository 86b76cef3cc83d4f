import * as v from 'valibot';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isOpen } from '../../../domains/domain/attachment/serving.ts';
import {
  type Redirect,
  type RedirectStatus,
  hostIn,
  isAbsolute,
} from '../../../domains/domain/redirects/settings.ts';
import type { DomainSettingsView } from '../../../domains/use-cases/domain-settings.ts';
import { buttonForm, field, formError, onceInput, select } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { badge, table } from '../frame/parts.ts';
import { bareForm, form, type Form, type Refusal, refusalOf, type Visit } from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { siteOf } from '../projects/project-head.ts';
import { domainsPath, settingPath } from './paths.ts';
import { nameOf, shownName } from './words.ts';

export const redirectSection = (options: RedirectOptions): Html => {
  const { redirects } = options.view.document.domains;
  return html`<section class="card" id="all-redirects" aria-labelledby="redirects">
    <h2 id="redirects">Redirects</h2>
    <p class="hint">Redirect one domain to another, such as www to the bare name. Path and query are kept.</p>
    ${redirects.length > 0 && redirectTable(redirects, options)}
    ${redirectForm(options)}
    ${primaryForm(options)}
  </section>`;
};

const redirectAnchor = (from: string): string => `redirect-${from}`;

const redirectTable = (redirects: readonly Redirect[], options: RedirectOptions): Html => {
  const served = new Map(options.attached.map((domain) => [domain.host, isOpen(domain)]));
  const { slug, view } = options;
  return table(
    redirects,
    [
      ['From', 'text', ({ from }) => html`<span class="host">${shownName(nameOf(from))}</span>`],
      ['To', 'text', ({ to }) => html`<span class="host">${shownTarget(to)}</span>`],
      [
        'Status',
        'text',
        ({ status }) => html`<span title="${statusMeanings[status]}">${status}</span>`,
      ],
      ['State', 'text', (redirect) => stateOf(whyIdle(redirect, view, served))],
      ['Actions', 'actions', ({ from }) => deletion(slug, from)],
    ],
    { idOf: ({ from }) => redirectAnchor(from) },
  );
};

const stateOf = (why: string | undefined): Html =>
  why === undefined
    ? badge('active', 'good')
    : html`<div>${badge('suspended', 'busy')}<br><span class="hint">${why}</span></div>`;

const deletion = (slug: string, from: string): Html =>
  buttonForm(`${settingPath(slug, 'redirects')}/${from}/delete`, 'Delete', {
    about: `Delete the redirect from ${inText(from)}`,
  });

/** @returns undefined for one that works */
const whyIdle = (
  { from, to }: Redirect,
  { suspended }: DomainSettingsView,
  served: ReadonlyMap<string, boolean>,
): string | undefined => {
  const gone = [from, ...(isAbsolute(to) ? [] : [to])].find((host) => !served.has(host));
  if (gone !== undefined) {
    return `${inText(gone)} was removed, so this has no effect; the next change here deletes it.`;
  }
  const awaited = [
    ...(suspended[from] === undefined ? [] : [inText(hostIn(to))]),
    ...(served.get(from) ? [] : [inText(from)]),
  ];
  if (awaited.length === 0) return undefined;
  return `Starts when ${awaited.join(' and ')} ${awaited.length > 1 ? 'are' : 'is'} live.`;
};

/** Within a row that has the A-labels too. */
const inText = (host: string): string => nameOf(host).unicodeHost;

/** An address stays as it is; a name of the own alphabet in it is shown beside it. */
const shownTarget = (to: string): Html => {
  if (!isAbsolute(to)) return shownName(nameOf(to));
  const { host, unicodeHost } = nameOf(hostIn(to));
  return html`${to}${host !== unicodeHost && html` <span class="ascii">(${unicodeHost})</span>`}`;
};

export interface RedirectOptions {
  readonly slug: string;
  readonly view: DomainSettingsView;
  readonly attached: readonly CustomDomain[];
  readonly once: string;
  readonly refusal: Refusal | undefined;
}

const statusMeanings: Readonly<Record<RedirectStatus, string>> = {
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
  label: 'To',
  name: 'to',
  maxlength: 1000,
  hint: 'Another one, or an address such as https://example.com/shop.',
};

const redirectForm = ({ slug, attached, once, refusal }: RedirectOptions): Html => {
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

const primaryForm = ({ slug, view, attached, refusal }: RedirectOptions): Html => {
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

const redirectDraft = v.object({
  from: filled('Enter the domain of this project to redirect from.'),
  to: v.pipe(
    filled('Enter a domain of this project, or an address such as https://example.com/shop.'),
    v.maxLength(1000, 'An address has at most 1000 characters.'),
  ),
  status: v.pipe(
    v.string(),
    v.regex(/^\d{3}$/, 'Choose one of the statuses.'),
    v.transform(Number),
  ),
});

export const redirectNotices = {
  redirected: 'Redirect added.',
  'redirect-deleted': 'Redirect deleted.',
  'primary-saved': 'Primary domain saved.',
};

export const redirectForms = (ports: DashboardPorts): readonly Form[] => {
  const { domains } = ports;
  const projectOf = async (visit: Visit) => (await siteOf(ports, visit)).project;
  return [
    form({
      name: 'add-redirect',
      operation: 'domain.configure',
      path: settingPath(':slug', 'redirects'),
      schema: redirectDraft,
      field: 'to',
      once: true,
      act: async (visit, redirect) => {
        const { id, slug } = await projectOf(visit);
        const { document } = await domains.editDomainSettings(id, (settings) => ({
          ...settings,
          redirects: [...settings.redirects, redirect],
        }));
        const from = document.domains.redirects.at(-1)?.from ?? '';
        return { to: `${domainsPath(slug)}#${redirectAnchor(from)}`, done: 'redirected' };
      },
    }),
    bareForm({
      name: 'delete-redirect',
      operation: 'domain.configure',
      path: `${settingPath(':slug', 'redirects')}/:from/delete`,
      act: async (visit) => {
        const { id, slug } = await projectOf(visit);
        await domains.editDomainSettings(id, (settings) => ({
          ...settings,
          redirects: settings.redirects.filter(({ from }) => from !== visit.parameters['from']),
        }));
        return { to: domainsPath(slug), done: 'redirect-deleted' };
      },
    }),
    form({
      name: 'primary-domain',
      operation: 'domain.configure',
      path: settingPath(':slug', 'primary-domain'),
      schema: v.object({ primary: v.string() }),
      field: 'primary',
      act: async (visit, { primary }) => {
        const { id, slug } = await projectOf(visit);
        await domains.choosePrimary(id, primary);
        return { to: domainsPath(slug), done: 'primary-saved' };
      },
    }),
  ];
};

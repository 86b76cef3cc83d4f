import * as v from 'valibot';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isAttached, isOpen } from '../../../domains/domain/attachment/serving.ts';
import {
  type Redirect,
  type RedirectStatus,
  hostIn,
  isAbsolute,
} from '../../../domains/domain/redirects/settings.ts';
import type { DomainSettingsView } from '../../../domains/use-cases/domain-settings.ts';
import { buttonForm, field, formError, onceInput, select } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { pageIn, placeIn, rowList } from '../frame/list-parts.ts';
import { badge, empty } from '../frame/parts.ts';
import {
  bareForm,
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { projectHead, siteOf } from '../projects/project-head.ts';
import { domainsPath, redirectsPath, settingPath } from './paths.ts';
import { nameOf, shownName, shownTarget } from './words.ts';

const path = redirectsPath(':slug');
const placeOf = (query: URLSearchParams, more: Readonly<Record<string, string>> = {}): string =>
  placeIn(query, ['after'], more);

export const redirectsScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
  help: 'domains',
  live: 'seldom',
  notices,
  show: async (visit: Visit, refusal?: Refusal) => {
    const { domains, ids } = ports;
    const { project } = await siteOf(ports, visit);
    const attached = (await domains.listDomains(project.id)).filter(isAttached);
    const view = await domains.showDomainSettings(project.id, attached);
    const { slug, name } = project;
    const { may } = visit;
    const options = { slug, view, attached, once: ids.next('form'), refusal, visit };
    const mayChange = may('domain.configure');
    const { redirects } = view.document.domains;
    const content = html`
      ${projectHead(project, 'redirects', 'Send visitors of one domain to another, such as www to the bare name. Path and query are kept.')}
      ${attached.length === 0 ? noDomainYet(slug, may('domain.add')) : html`${mayChange && redirectForm(options)}${redirects.length > 0 && redirectList(redirects, options)}${mayChange && primaryForm(options)}`}
      ${attached.length > 0 && redirects.length === 0 && !mayChange && empty('No redirect yet', 'An owner or an editor can add one.')}`;
    return { title: `Redirects of ${name}`, content };
  },
  forms: redirectForms(ports),
});

const noDomainYet = (slug: string, mayAdd: boolean): Html =>
  empty(
    'No domain yet',
    'A redirect starts at one of the domains of this project.',
    mayAdd && html`<p><a class="button" href="${domainsPath(slug)}">Add a domain</a></p>`,
  );

const redirectAnchor = (from: string): string => `redirect-${from}`;

/** The newest redirects come first. */
const redirectList = (redirects: readonly Redirect[], options: RedirectOptions): Html => {
  const served = new Map(options.attached.map((domain) => [domain.host, isOpen(domain)]));
  const { slug, view } = options;
  const { query, may } = options.visit;
  const address = { path: redirectsPath(slug), fields: {} };
  const choice = { address, after: query.get('after'), order: 'time' } as const;
  const { shown, links } = pageIn(redirects.toReversed(), ({ from }) => from, choice);
  const rows = rowList(
    shown,
    [
      ['From', 'name', ({ from }) => shownName(nameOf(from))],
      ['To', 'line', (redirect) => targetOf(redirect, whyIdle(redirect, view, served))],
      [
        'Status',
        'text',
        ({ status }) => html`<span title="${statusMeanings[status]}">${status}</span>`,
      ],
      ['State', 'bare', (redirect) => stateOf(whyIdle(redirect, view, served))],
      ['Actions', 'actions', ({ from }) => may('domain.configure') && actionsOf(slug, from, query)],
    ],
    { idOf: ({ from }) => redirectAnchor(from) },
  );
  return html`${rows}${links}`;
};

const targetOf = ({ to }: Redirect, why: string | undefined): Html =>
  html`<span title="${to}">${shownTarget(to)}</span>${why !== undefined && html` <small title="${why}">${why}</small>`}`;

const stateOf = (why: string | undefined): Html =>
  why === undefined ? badge('active', 'good') : badge('suspended', 'busy');

const actionsOf = (slug: string, from: string, query: URLSearchParams): Html =>
  html`<div class="row">
    <a class="button" href="${redirectsPath(slug)}${placeOf(query, { edit: from })}" title="Edit the redirect from ${inText(from)}">Edit</a>
    ${buttonForm(`${redirectsPath(slug)}/${from}/delete${placeOf(query)}`, 'Delete', { about: `Delete the redirect from ${inText(from)}`, ends: true })}
  </div>`;

const whyIdle = (
  { from, to }: Redirect,
  { suspended }: DomainSettingsView,
  served: ReadonlyMap<string, boolean>,
): string | undefined => {
  const gone = [from, ...(isAbsolute(to) ? [] : [to])].find((host) => !served.has(host));
  if (gone !== undefined) {
    return `${inText(gone)} was removed, so this has no effect; the next change here deletes it.`;
  }
  const isFromAwaited = !served.get(from);
  if (suspended[from] === undefined) return isFromAwaited ? 'Starts when it is live.' : undefined;
  return isFromAwaited
    ? 'Starts when both are live.'
    : `Starts when ${inText(hostIn(to))} is live.`;
};

const inText = (host: string): string => nameOf(host).unicodeHost;

interface RedirectOptions {
  readonly slug: string;
  readonly view: DomainSettingsView;
  readonly attached: readonly CustomDomain[];
  readonly once: string;
  readonly refusal: Refusal | undefined;
  readonly visit: Visit;
}

const statusMeanings: Readonly<Record<RedirectStatus, string>> = {
  308: 'permanent, method kept',
  307: 'temporary, method kept',
  301: 'permanent, may become GET',
  302: 'temporary, may become GET',
};
const statuses = ([308, 307, 301, 302] as const).map(
  (status) => [String(status), `${status} ${statusMeanings[status]}`] as const,
);

const ownDomain = { list: 'own-domains', autocomplete: 'off', maxlength: 300 } as const;
const from = { ...ownDomain, label: 'From', name: 'from', hint: 'A domain of this project.' };
const to = {
  ...ownDomain,
  label: 'To',
  name: 'to',
  maxlength: 1000,
  hint: 'Another one, or an address such as https://example.com/shop.',
};

const redirectForm = ({ slug, view, attached, once, refusal, visit }: RedirectOptions): Html => {
  const { query } = visit;
  const edited = view.document.domains.redirects.find((one) => one.from === query.get('edit'));
  const refused = refusalOf(refusal, 'edit-redirect') ?? refusalOf(refusal, 'add-redirect');
  // The address names the redirect, so that its form stays after a refusal and a live update.
  const action = edited
    ? `${redirectsPath(slug)}/${edited.from}/edit${placeOf(query, { edit: edited.from })}`
    : redirectsPath(slug);
  const start = edited?.from ?? query.get('from') ?? '';
  return html`<form method="post" action="${action}" class="stack" aria-label="${edited ? `Edit the redirect from ${inText(edited.from)}` : 'New redirect'}">
    ${formError(refused)}
    ${onceInput(once)}
    <div class="fields">
      ${field({ ...from, value: start }, refused)}
      ${field({ ...to, value: edited?.to ?? '', autofocus: start !== '' }, refused)}
      ${select({ label: 'Status', name: 'status', value: String(edited?.status ?? 308), options: statuses }, refused)}
      <button class="main">${edited ? 'Save redirect' : 'Add redirect'}</button>
      ${edited && html`<a class="button bare" href="${redirectsPath(slug)}${placeOf(query)}">Cancel</a>`}
    </div>
    <datalist id="own-domains">${attached.map(offered)}</datalist>
  </form>`;
};

const offered = ({ host, unicodeHost }: CustomDomain): Html =>
  html`<option value="${host}" ${host !== unicodeHost && html`label="${unicodeHost}"`}></option>`;

const primaryForm = ({ slug, view, attached, refusal, visit }: RedirectOptions): Html => {
  const refused = refusalOf(refusal, 'primary-domain');
  const primary = attached.find(({ host }) => host === view.document.domains.primary);
  const hint = html`The main domain of the project. It cannot be redirected. ${primaryNow(primary, view)}`;
  const value = primary?.host ?? '';
  const options = { ...ownDomain, label: 'Primary', name: 'primary', value, hint };
  return html`<form method="post" action="${settingPath(slug, 'primary-domain')}${placeOf(visit.query)}" class="fields primary-domain">
    ${formError(refused)}
    ${field({ ...options, required: false }, refused)}
    <button>Save</button>
  </form>`;
};

const primaryNow = (primary: CustomDomain | undefined, view: DomainSettingsView): Html => {
  if (primary) return html`Now ${shownName(primary)}. Save an empty field for none.`;
  return view.isPrimaryOpen
    ? html`Unless you choose one, the first domain that goes live becomes the primary domain.`
    : html`Now none, as you chose.`;
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

const notices = {
  redirected: 'Redirect added.',
  'redirect-changed': 'Redirect changed.',
  'redirect-deleted': 'Redirect deleted.',
  'primary-saved': 'Primary domain saved.',
};

const redirectForms = (ports: DashboardPorts): readonly Form[] => [
  addingRedirect(ports),
  editingRedirect(ports),
  deletingRedirect(ports),
  choosingPrimary(ports),
];

const addingRedirect = (ports: DashboardPorts): Form =>
  form({
    name: 'add-redirect',
    operation: 'domain.configure',
    path,
    schema: redirectDraft,
    field: 'to',
    once: true,
    act: async (visit, redirect) => {
      const { id, slug } = (await siteOf(ports, visit)).project;
      const { document } = await ports.domains.editDomainSettings(id, (settings) => ({
        ...settings,
        redirects: [...settings.redirects, redirect],
      }));
      const from = document.domains.redirects.at(-1)?.from ?? '';
      return { to: `${redirectsPath(slug)}#${redirectAnchor(from)}`, done: 'redirected' };
    },
  });

const editingRedirect = (ports: DashboardPorts): Form =>
  form({
    name: 'edit-redirect',
    operation: 'domain.configure',
    path: `${path}/:from/edit`,
    schema: redirectDraft,
    field: 'to',
    act: async (visit, redirect) => {
      const { id, slug } = (await siteOf(ports, visit)).project;
      await ports.domains.editDomainSettings(id, (settings) => ({
        ...settings,
        redirects: withEdited(settings.redirects, fromOf(visit), redirect),
      }));
      return { to: redirectsPath(slug) + placeOf(visit.query), done: 'redirect-changed' };
    },
  });

const deletingRedirect = (ports: DashboardPorts): Form =>
  bareForm({
    name: 'delete-redirect',
    operation: 'domain.configure',
    path: `${path}/:from/delete`,
    act: async (visit) => {
      const { id, slug } = (await siteOf(ports, visit)).project;
      await ports.domains.editDomainSettings(id, (settings) => ({
        ...settings,
        redirects: without(settings.redirects, fromOf(visit)),
      }));
      return { to: redirectsPath(slug) + placeOf(visit.query), done: 'redirect-deleted' };
    },
  });

const choosingPrimary = (ports: DashboardPorts): Form =>
  form({
    name: 'primary-domain',
    operation: 'domain.configure',
    path: settingPath(':slug', 'primary-domain'),
    schema: v.object({ primary: v.string() }),
    field: 'primary',
    act: async (visit, { primary }) => {
      const { id, slug } = (await siteOf(ports, visit)).project;
      await ports.domains.choosePrimary(id, primary);
      return { to: redirectsPath(slug) + placeOf(visit.query), done: 'primary-saved' };
    },
  });

const fromOf = ({ parameters }: Visit): string => parameters['from'] ?? '';

/** Keeps the order. If another tab has deleted the redirect meanwhile, adds it again, because its owner wants it. */
const withEdited = <Each extends Pick<Redirect, 'from'>>(
  redirects: readonly Each[],
  from: string,
  edited: Each,
): readonly Each[] => {
  const at = redirects.findIndex((one) => one.from === from);
  return at < 0 ? [...redirects, edited] : redirects.with(at, edited);
};

const without = <Each extends Pick<Redirect, 'from'>>(
  redirects: readonly Each[],
  from: string,
): readonly Each[] => redirects.filter((one) => one.from !== from);

import { isOpen } from '../../../domains/domain/attachment/serving.ts';
import { type Redirect, hostIn, isAbsolute } from '../../../domains/domain/redirects/settings.ts';
import type { DomainSettingsView } from '../../../domains/use-cases/domain-settings.ts';
import { settingPath } from './paths.ts';
import { nameOf, shownName } from './words.ts';
import { html, type Html } from '../frame/html.ts';
import { buttonForm } from '../frame/form-parts.ts';
import { badge } from '../frame/parts.ts';
import {
  primaryForm,
  redirectForm,
  statusMeanings,
  type RedirectOptions,
} from './redirect-fields.ts';
import { table } from '../frame/table.ts';

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

export const redirectAnchor = (from: string): string => `redirect-${from}`;

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

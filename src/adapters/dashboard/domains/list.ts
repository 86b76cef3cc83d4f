import type { CustomDomain, DomainIn } from '../../../domains/domain/attachment/custom-domain.ts';
import type { Hold } from '../../../domains/domain/certificates/ca-budget.ts';
import { type DomainSettingsView, roleOf } from '../../../domains/use-cases/domain-settings.ts';
import { dueAt } from '../../../domains/domain/attachment/due-work.ts';
import { domainMenu, verifyForm } from './actions.ts';
import { attachmentPath, domainPath } from './paths.ts';
import { progressOf, progressOfHeldUp } from './progress.ts';
import { shownName, stateBadge } from './words.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { badge, count, counted, planned, table, time } from '../frame/parts.ts';
import { queryText } from '../frame/paths.ts';
import { type Refusal, refusalOf } from '../frame/screen.ts';

export interface ListOptions {
  readonly slug: string;
  readonly now: Date;
  readonly refusal: Refusal | undefined;
  /** The limits that first certificates wait for, by domain id. */
  readonly holds: ReadonlyMap<string, Hold>;
  readonly view: DomainSettingsView;
  /** The domains whose records are shown together, if there are some; verifying one keeps both in sight. */
  readonly pair: readonly (CustomDomain | undefined)[];
  readonly query: URLSearchParams;
}

export const domainTable = (domains: readonly CustomDomain[], options: ListOptions): Html =>
  table(
    domains,
    [
      ['Domain', 'bare', (domain) => named(domain, options)],
      ['State', 'bare', stateBadge],
      ['What is happening', 'bare', (domain) => happening(domain, options)],
      ['Actions', 'actions', (domain) => actions(domain, options)],
    ],
    { look: 'domains', idOf: ({ id }) => id },
  );

/** With its part in the project: the primary domain, or one that redirects. */
const named = (domain: CustomDomain, { slug, view }: ListOptions): Html => {
  const { host, unicodeHost } = domain;
  const { isPrimary, redirectsTo } = roleOf(view, domain);
  const redirect = view.document.domains.redirects.find(({ from }) => from === host);
  return html`<div><a class="host" href="${domainPath(slug, host)}">${unicodeHost}</a>${host !== unicodeHost && html` <span class="ascii">(${host})</span>`}
    ${isPrimary && html` ${badge('primary', 'idle')}`}
    ${redirect && html`<br><span class="hint">${redirectsTo === undefined ? 'will redirect' : 'redirects'} to ${redirect.to}</span>`}</div>`;
};

const actions = (domain: CustomDomain, options: ListOptions): Html => {
  const { slug, now, refusal, query, pair, view } = options;
  const { id, host } = domain;
  const path = domainPath(slug, host);
  const other = pair.some((one) => one?.id === id) && pair.find((one) => one && one.id !== id);
  const kept = pageQuery(query, { with: other ? other.host : undefined });
  const action = `${path}/verify${kept}#${id}`;
  const refused = refusalOf(refusal, 'verify', { host });
  return html`<div class="row">${verifyForm(domain, { action, now, refusal: refused })}${domainMenu(domain, slug, roleOf(view, domain))}</div>`;
};

const happening = (domain: CustomDomain, { now, holds, view }: ListOptions): Html => {
  const hold = holds.get(domain.id);
  const { redirectsTo } = roleOf(view, domain);
  const { short, tone, isWorkedOn } =
    progressOfHeldUp(domain, hold) ?? progressOf(domain, now, redirectsTo);
  const next = domain.state === 'live' || isWorkedOn ? undefined : (hold?.nextAt ?? dueAt(domain));
  return html`<div><span ${tone === 'bad' && html`class="error"`}>${short}</span>
    ${next && html`<br><span class="hint">${hold ? 'next attempt' : 'next check'} ${planned(next, now)}</span>`}</div>`;
};

type Removed = DomainIn<'removed'>;

const newestRemoved = 3;

/** The removed domains: when and why. Only the newest are unfolded. */
export const removedSection = (
  removed: readonly Removed[],
  attached: readonly CustomDomain[],
  options: Pick<ListOptions, 'slug' | 'now'>,
): Html => {
  if (removed.length === 0) return nothing;
  // The newest attachment, which a page shows by default.
  const newest = new Map([...removed.toReversed(), ...attached].map(({ host, id }) => [host, id]));
  const tableOf = (some: readonly Removed[]) => removedTable(some, newest, options);
  const latest = removed.toSorted(
    (one, other) => other.removedAt.getTime() - one.removedAt.getTime(),
  );
  const older = latest.slice(newestRemoved);
  return html`<section class="stack hint aside" id="removed-domains" aria-labelledby="removed">
    <h2 id="removed">Removed</h2>
    ${tableOf(latest.slice(0, newestRemoved))}
    ${older.length > 0 && html`<details id="removed-earlier"><summary>${counted(older.length, 'domain')} removed earlier</summary>${tableOf(older)}</details>`}
  </section>`;
};

const removedTable = (
  domains: readonly Removed[],
  newest: ReadonlyMap<string, string>,
  { slug, now }: Pick<ListOptions, 'slug' | 'now'>,
): Html =>
  table(domains, [
    [
      'Domain',
      'bare',
      (domain) =>
        html`<a class="host" href="${newest.get(domain.host) === domain.id ? domainPath(slug, domain.host) : attachmentPath(slug, domain)}">${shownName(domain)}</a>`,
    ],
    ['State', 'bare', stateBadge],
    ['When', 'text', ({ removedAt }) => time(removedAt, now)],
    ['Why', 'text', (domain) => progressOf(domain, now).short],
  ]);

const rowsOnPage = 100;

export interface DomainPage {
  readonly domains: readonly CustomDomain[];
  /** From 1 on. */
  readonly number: number;
  readonly pages: number;
  readonly total: number;
}

/** One page of many. @param wanted the untrusted page parameter of the address */
export const pageOf = (all: readonly CustomDomain[], wanted: string | null): DomainPage => {
  const pages = Math.max(1, Math.ceil(all.length / rowsOnPage));
  const number = /^[1-9]\d{0,5}$/.test(wanted ?? '') ? Math.min(Number(wanted), pages) : 1;
  const start = (number - 1) * rowsOnPage;
  return { domains: all.slice(start, start + rowsOnPage), number, pages, total: all.length };
};

/** The query that keeps the current page of the list; empty for the first page. */
export const pageQuery = (
  query: URLSearchParams,
  more: Readonly<Record<string, string | undefined>> = {},
): string => queryText({ page: query.get('page') ?? undefined, ...more });

export const pageLinks = ({ number, pages, total, domains }: DomainPage): Html => {
  if (pages === 1) return nothing;
  const first = (number - 1) * rowsOnPage + 1;
  return html`<nav class="row between" aria-label="Pages">
    ${number > 1 && html`<a href="?page=${number - 1}" rel="prev">Newer</a>`}
    <span class="quiet">${count(first)} to ${count(first + domains.length - 1)} of ${count(total)}</span>
    ${number < pages && html`<a href="?page=${number + 1}" rel="next">Older</a>`}
  </nav>`;
};

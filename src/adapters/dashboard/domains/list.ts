import {
  attentionAt,
  attentionOf,
  attentions,
  type DomainFilter,
  domainFilters,
  dueAt,
} from '../../../domains/domain/attachment/due-work.ts';
import {
  type CustomDomain,
  stateInWords,
} from '../../../domains/domain/attachment/custom-domain.ts';
import type { Hold } from '../../../domains/domain/certificates/ca-budget.ts';
import { nameInText } from '../../../domains/domain/names/hostname.ts';
import type { DomainCounts, DomainPlace } from '../../../domains/ports.ts';
import { type DomainSettingsView, roleOf } from '../../../domains/use-cases/domain-settings.ts';
import { html, type Html } from '../frame/html.ts';
import { addressOf, bulkForm, filterBar, type ListAddress, rowList } from '../frame/list-parts.ts';
import { badge, planned, time } from '../frame/parts.ts';
import { type Refusal, refusalOf, type Visit } from '../frame/screen.ts';
import { domainMenu, verifyForm } from './actions.ts';
import { domainPath, domainsPath, placeOf, settingPath } from './paths.ts';
import { progressOf, progressOfHeldUp } from './progress.ts';
import { shownName, shownTarget, stateBadge } from './words.ts';

export interface AskedList {
  readonly filter: DomainFilter;
  readonly text: string;
  readonly after: DomainPlace | undefined;
  readonly address: ListAddress;
}

export const fewDomains = 5;

export const askedList = (slug: string, query: URLSearchParams): AskedList => {
  const filter = domainFilters.find((one) => one === query.get('state')) ?? 'attached';
  const text = (query.get('q') ?? '').trim().slice(0, 200);
  const fields = { state: filter === 'attached' ? undefined : filter, q: text };
  const address = { path: domainsPath(slug), fields };
  return { filter, text, after: cursorIn(query.get('after') ?? ''), address };
};

/** @returns undefined if no page links to this place */
const cursorIn = (text: string): DomainPlace | undefined => {
  const [attention, at = '', host, id] = text.split('~');
  const known = attentions.find((one) => one === attention);
  return known && /^\d{1,15}$/.test(at) && host !== undefined && id !== undefined
    ? { attention: known, at: new Date(Number(at)), host, id }
    : undefined;
};

const cursorOf = (domain: CustomDomain): string =>
  [attentionOf(domain), attentionAt(domain).getTime(), domain.host, domain.id].join('~');

export const nextPage = (address: ListAddress, last: CustomDomain | undefined) =>
  last && addressOf(address, { after: cursorOf(last) });

const filterWords: Readonly<Record<DomainFilter, string>> = {
  attached: 'All',
  owner: 'Needs you',
  added: stateInWords({ state: 'added' }),
  verified: 'verified',
  live: 'live',
  removed: 'removed',
};

export const stateFilter = (address: ListAddress, counts: DomainCounts): Html =>
  filterBar(address, 'State', {
    name: 'state',
    choices: domainFilters.map((filter) => ({
      value: filter === 'attached' ? '' : filter,
      text: filterWords[filter],
      count: counts[filter],
    })),
  });

interface ListOptions {
  readonly slug: string;
  readonly visit: Visit;
  readonly refusal: Refusal | undefined;
  readonly holds: ReadonlyMap<string, Hold>;
  readonly view: DomainSettingsView;
}

const selected = 'selected';

export const domainRows = (
  domains: readonly CustomDomain[],
  filter: DomainFilter,
  options: ListOptions,
): Html => {
  const { slug, visit } = options;
  const { may, query } = visit;
  const selection = {
    form: selected,
    name: 'domain',
    valueOf: ({ id }: CustomDomain) => id,
    labelOf: ({ host }: CustomDomain) => host,
  };
  const isSelectable =
    filter !== 'removed' && domains.length > 1 && may('domain.verify') && may('domain.remove');
  const rows = rowList<CustomDomain>(
    domains,
    [
      ['Domain', 'name', (domain) => named(domain, options)],
      ['State', 'bare', stateBadge],
      ['What happens next', 'line', (domain) => happening(domain, options)],
      ['Actions', 'actions', (domain) => actions(domain, options)],
    ],
    { idOf: ({ id }) => id, selection: isSelectable ? selection : undefined },
  );
  if (!isSelectable) return rows;
  const place = placeOf(query);
  const steps = [
    { label: 'Verify selected', action: `${settingPath(slug, 'verify-domains')}${place}` },
    {
      label: 'Remove selected',
      action: settingPath(slug, 'remove-domains'),
      isAsked: true,
      ends: true,
    },
  ] as const;
  return html`${rows}${bulkForm(selected, steps, place)}`;
};

const named = (domain: CustomDomain, { slug, view, visit }: ListOptions): Html => {
  const { host, id, state } = domain;
  const { isPrimary, redirectsTo } = roleOf(view, domain);
  const redirect =
    state !== 'removed' && view.document.domains.redirects.find(({ from }) => from === host);
  return html`<a href="${domainPath(slug, id)}${placeOf(visit.query)}" title="${nameInText(domain)}">${shownName(domain)}</a>${isPrimary && html` ${badge('primary', 'idle')}`}${redirect && html` <small>${redirectsTo === undefined ? 'will redirect' : 'redirects'} to ${shownTarget(redirect.to)}</small>`}`;
};

const actions = (domain: CustomDomain, options: ListOptions): Html => {
  const { slug, visit, view } = options;
  const { id } = domain;
  const action = `${domainPath(slug, id)}/verify${placeOf(visit.query)}`;
  const refusal = refusalOf(options.refusal, 'verify', { domain: id });
  return html`<div class="row">${verifyForm(domain, { action, visit, refusal, isInList: true })}${domainMenu(domain, roleOf(view, domain), slug, visit)}</div>`;
};

const happening = (domain: CustomDomain, { visit, holds, view }: ListOptions): Html => {
  const { now } = visit;
  if (domain.state === 'removed') {
    return html`<span>${progressOf(domain, now).short} <small>${time(domain.removedAt, now)}</small></span>`;
  }
  const hold = holds.get(domain.id);
  const { redirectsTo } = roleOf(view, domain);
  const { short, tone, isWorkedOn } =
    progressOfHeldUp(domain, hold) ?? progressOf(domain, now, redirectsTo);
  const next = domain.state === 'live' || isWorkedOn ? undefined : (hold?.nextAt ?? dueAt(domain));
  return html`<span ${tone === 'bad' && html`class="error"`}>${short}</span>${next && html` <small>${hold ? 'next attempt' : 'next check'} ${planned(next, now)}</small>`}`;
};

import { type Child, html, type Html, nothing } from './html.ts';
import { type Confirmation, dialogOf, onceInput } from './form-parts.ts';
import { type Column, count, empty, listPart, pager, table } from './parts.ts';
import { queryText } from './paths.ts';

// The parts of every list, which work without scripts. The address contains filters, search, order and page, so links
// to a list can be shared. A screen reads them from `visit.query`, queries the database and combines:
//
//   ${listBar(filterBar(…), searchField(…), orderBar(…), csvLink(…))}
//   ${shown.length === 0 ? noMatch(…) or empty(…) : rowList(shown, columns, options)}
//   ${pager({ first, next })}, or the pager of `pageIn`

export interface ListAddress {
  readonly path: string;
  /** Filters, search and order, without the cursor, because a changed filter starts at the first page. */
  readonly fields: Readonly<Record<string, string | undefined>>;
}

/** @param changes '' and undefined remove a field */
export const addressOf = (
  { path, fields }: ListAddress,
  changes: Readonly<Record<string, string | undefined>> = {},
): string => `${path}${queryText({ ...fields, ...changes })}`;

/**
 * The page of a list that is shown, as the end of an address. Forms and links carry it, so that their answers lead back
 * to this page even after a refusal or a sign-in.
 */
export type ListPlace = string;

/** In characters. Each row of a list repeats the place, so that a page could become much larger than its address. */
const longestValue = 500;

const ifShort = (value: string | null): string | undefined =>
  value !== null && value.length <= longestValue ? value : undefined;

export const placeIn = (
  query: URLSearchParams,
  fields: readonly string[],
  more: Readonly<Record<string, string>> = {},
): ListPlace => {
  const place = fields.map((field) => [field, ifShort(query.get(field))] as const);
  return queryText({ ...Object.fromEntries(place), ...more });
};

export interface Choice {
  readonly value: string;
  readonly text: string;
  readonly count?: number | undefined;
}

export const filterBar = (
  address: ListAddress,
  label: string,
  { name, choices }: { readonly name: string; readonly choices: readonly Choice[] },
): Html => {
  const current = address.fields[name] ?? '';
  return html`<nav class="choice" aria-label="${label}">
    ${choices.map(({ value, text, count: number }) => html`<a href="${addressOf(address, { [name]: value })}" ${value === current && html`aria-current="true"`}>${text}${number !== undefined && html` <span class="number">${count(number)}</span>`}</a>`)}
  </nav>`;
};

export const searchField = (
  address: ListAddress,
  label: string,
  { name = 'q', isFocused = false } = {},
): Html => {
  const kept = Object.entries(address.fields).filter(([field, value]) => field !== name && value);
  return html`<form action="${address.path}" class="filter">
    ${kept.map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`)}
    <input type="search" name="${name}" value="${address.fields[name]}" aria-label="${label}" placeholder="${label}" maxlength="200" autocomplete="off" ${isFocused && html`autofocus`}>
    <button class="visually-hidden">Search</button>
  </form>`;
};

export const csvLink = (href: string): Html =>
  html`<a class="button" href="${href}" download>CSV</a>`;

export const listBar = (...parts: readonly Child[]): Html =>
  html`<div class="row list-bar">${parts}</div>`;

export const noMatch = (address: ListAddress, what: string): Html =>
  empty(
    `No ${what} match`,
    'Nothing fits this search and these filters.',
    html`<p><a class="button" href="${address.path}">Show all</a></p>`,
  );

const pageSize = 50;

/** Below at most this many rows, the form for a new one is in view. */
export const seenAtOnce = 5;

interface PageChoice {
  readonly address: ListAddress;
  /** The id of the last item on the previous page, from the address. */
  readonly after: string | null;
  /** If a page has several lists: the field of the address that has `after`, and the name of the list. */
  readonly cursor?: string;
  readonly of?: string;
  readonly order: 'time' | 'other';
}

/** Cuts a page from a short list that was read completely. */
export const pageIn = <Thing>(
  all: readonly Thing[],
  idOf: (thing: Thing) => string,
  { address, after, cursor = 'after', of, order }: PageChoice,
): { readonly shown: readonly Thing[]; readonly links: Html } => {
  const at = 1 + all.findIndex((one) => idOf(one) === after);
  // The first page is shown if nothing is left on this one.
  const begin = at < all.length ? at : 0;
  const { shown, last } = listPart(all.slice(begin), pageSize);
  const first = begin > 0 ? addressOf(address) : undefined;
  const next = last && addressOf(address, { [cursor]: idOf(last) });
  return { shown, links: pager({ first, next, of, order }) };
};

interface Selection<Thing> {
  readonly form: string;
  readonly name: string;
  readonly valueOf: (thing: Thing) => string;
  readonly labelOf: (thing: Thing) => string;
}

interface RowOptions<Thing> {
  readonly look?: string;
  readonly idOf?: (thing: Thing) => string;
  readonly isOwn?: (thing: Thing) => boolean;
  readonly selection?: Selection<Thing> | undefined;
}

/**
 * Shows a list with one line for each thing, or two on a phone. The first column, with the look `name`, names the thing
 * and links to its page; `actions` has at most one button and the menu.
 */
export const rowList = <Thing>(
  things: readonly Thing[],
  columns: readonly Column<Thing>[],
  { look = '', selection, ...options }: RowOptions<Thing> = {},
): Html => {
  const all = selection ? [selecting(selection), ...columns] : columns;
  return table(things, all, { ...options, look: `rows ${look}` });
};

const selecting = <Thing>({ form, name, valueOf, labelOf }: Selection<Thing>): Column<Thing> => [
  'Select',
  'select',
  (thing) =>
    html`<input type="checkbox" form="${form}" name="${name}" value="${valueOf(thing)}" aria-label="Select ${labelOf(thing)}">`,
];

export interface BulkStep {
  readonly label: string;
  readonly action: string;
  readonly isAsked?: boolean;
  readonly ends?: boolean;
}

/**
 * Shows the actions for all ticked rows, once a row is ticked.
 * @param id the `form` of the selection
 * @param place a step that asks gets it as fields, because its form replaces the end of the address
 */
export const bulkForm = (
  id: string,
  [main, ...others]: readonly [BulkStep, ...BulkStep[]],
  place: ListPlace,
): Html =>
  html`<form id="${id}" method="post" action="${main.action}" class="row bulk" aria-label="With the selected ones">
    ${[...new URLSearchParams(place)].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
    <span class="hint">Selected:</span>
    <button>${main.label}</button>
    ${others.map(({ label, action, isAsked, ends }) => html`<button formaction="${action}" ${isAsked && html`formmethod="get"`} ${ends && html`class="ending"`}>${label}</button>`)}
  </form>`;

/** An item of a menu is a link, a form with hidden fields, or a form that asks first. `ends` marks a destructive one. */
export type MenuItem =
  | { readonly label: string; readonly to: string; readonly ends?: boolean }
  | {
      readonly label: string;
      readonly action: string;
      readonly fields?: Readonly<Record<string, string>>;
      readonly once?: string;
    }
  | Confirmation;

interface RowMenu {
  readonly id: string;
  /** The menu's button is named "Actions for …" with this text. */
  readonly about: string;
  /** The text that people read, if `about` is the form that programs use. */
  readonly title?: string | undefined;
}

/** Shows the menu of a row or of a page. Omits false and undefined items, and the menu if no item is left. */
export const rowMenu = (
  { id, about, title }: RowMenu,
  items: readonly (MenuItem | false | undefined)[],
): Html => {
  const shown = items.filter((item) => item !== false && item !== undefined);
  if (shown.length === 0) return nothing;
  const name = `Actions for ${about}`;
  return html`<button type="button" class="bare icon menu-button" popovertarget="menu-${id}" aria-haspopup="menu" aria-label="${name}" title="${title === undefined ? name : `Actions for ${title}`}">⋯</button>
    <div popover role="menu" class="menu" id="menu-${id}" aria-label="${name}">${shown.map(menuItem)}</div>
    ${shown.map((item) => 'question' in item && dialogOf(item))}`;
};

const menuItem = (item: MenuItem): Html => {
  if ('question' in item) {
    return html`<button type="button" role="menuitem" ${!item.goesOn && html`class="ending"`} popovertarget="${item.id}">${item.label}</button>`;
  }
  if ('to' in item) {
    return html`<a role="menuitem" href="${item.to}" ${item.ends && html`class="ending"`}>${item.label}</a>`;
  }
  const { label, action, fields = {}, once } = item;
  return html`<form role="none" method="post" action="${action}">${once !== undefined && onceInput(once)}${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button role="menuitem">${label}</button></form>`;
};

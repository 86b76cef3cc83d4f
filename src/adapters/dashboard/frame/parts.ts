import type { Plan } from '../../../access/domain/quota.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { dayMs } from '../../../kernel/durations.ts';
import { type Child, html, type Html, nothing } from './html.ts';
import { dateInWords, inWords, inWordsWithDate, plannedInWords } from './time-words.js';

// The parts of every page: `head` begins it, `tabs` link to related pages, `empty` names the next step, `facts`
// describe one thing and `table` shows several. Lists with filters, search and pages are in list-parts.ts; forms,
// dialogs and confirmations are in form-parts.ts.

/**
 * Shows a time relative to now, with its date if that is days away. The script in the browser keeps it up to date in
 * the same words.
 */
export const time = (at: Date, now: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${exact(at)}" data-relative>${inWordsWithDate(at, now)}</time>`;

export const planned = (at: Date, now: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${exact(at)}" data-relative="planned">${plannedInWords(at, now)}</time>`;

/** Adds the exact time in small print, for detailed views of one thing. */
export const fullTime = (at: Date, now: Date): Html =>
  html`<span class="row"><time datetime="${at.toISOString()}" data-relative="plain">${inWords(at, now)}</time> <small>${exactTime(at)}</small></span>`;

/** Shows a time to the second, with scripts in the browser's zone. */
export const exactTime = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${exact(at)}" data-local="exact">${exact(at)}</time>`;

/** `2026-03-01 10:00:00 UTC` */
export const exact = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** `14:12 UTC`, or on another day `2026-03-01 14:12 UTC`. */
const minute = (at: Date, now: Date): string => {
  const isToday = at.toISOString().slice(0, 10) === now.toISOString().slice(0, 10);
  return `${exact(at).slice(isToday ? 11 : 0, 16)} UTC`;
};

export const day = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${exact(at)}" data-local="day">${dateInWords(at)}</time>`;

/** `14:12 UTC`, with scripts in the browser's zone. */
export const atClock = (at: Date, now: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${exact(at)}" data-local="minute">${minute(at, now)}</time>`;

/** Shows an end as a day, or to the minute if it is less than two days away. */
export const end = (at: Date, now: Date): Html =>
  at.getTime() - now.getTime() < 2 * dayMs ? atClock(at, now) : day(at);

/** A prepared Intl.NumberFormat would not be faster, and takes 20 ms to create. */
export const count = (number: number | bigint): string => number.toLocaleString('en');

export const counted = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`;

/** @returns a function that names a thing by its id; deleted things keep the id */
export const naming = (things: readonly (readonly [id: string, name: string])[]) => {
  const names = new Map(things);
  return (id: string): string => names.get(id) ?? id;
};

export type Tone = 'good' | 'busy' | 'bad' | 'idle';

export const badge = (word: string, tone: Tone): Html =>
  html`<span class="badge ${tone}">${word}</span>`;

export const empty = (title: string, text: Child, step?: Child): Html =>
  html`<div class="empty"><p><strong>${title}</strong></p><p>${text}</p>${step}</div>`;

/** Shows a button that copies a text. Hidden without scripts. */
export const copyButton = (text: string, what: string): Html =>
  html`<button type="button" class="copy" data-copy="${text}" title="Copy ${what}" hidden>Copy</button>`;

export const copyable = (text: string, what: string, lines?: 'lines'): Html =>
  html`<div class="copyable"><pre tabindex="0" role="group" aria-label="${what}" ${!lines && html`class="wrapped"`}>${text}</pre>${copyButton(text, `the ${what}`)}</div>`;

interface SecretCard {
  readonly id: 'secret-title' | 'link-title';
  readonly heading: Child;
  readonly advice: Child;
  readonly secret: string;
  readonly what: string;
  readonly more?: Child;
  readonly next: { readonly to: string; readonly label: string };
}

export const secretCard = ({ id, heading, advice, secret, what, more, next }: SecretCard): Html =>
  html`<section class="card secret" aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    <p>${advice}</p>
    ${copyable(secret, what)}
    ${more}
    <p><a class="button" href="${next.to}">${next.label}</a></p>
  </section>`;

export interface ListPart<Thing> {
  readonly shown: readonly Thing[];
  readonly last: Thing | undefined;
}

export const listPart = <Thing>(found: readonly Thing[], size: number): ListPart<Thing> => {
  const shown = found.slice(0, size);
  return { shown, last: found.length > size ? shown.at(-1) : undefined };
};

/** Links to the first and next pages; empty for a single page. @param of names the list, if a page has several */
export const pager = (links: {
  readonly first?: string | undefined;
  readonly next?: string | undefined;
  readonly of?: string | undefined;
  readonly order?: 'time' | 'other';
}): Html => {
  const of = links.of === undefined ? '' : ` ${links.of}`;
  const [first, next] =
    links.order === 'other' ? ['First page', 'Next page'] : ['Back to the newest', 'Older'];
  return links.first === undefined && links.next === undefined
    ? nothing
    : html`<nav class="row pager" aria-label="Pages${of && ` of${of}`}">
        ${links.first !== undefined && html`<a href="${links.first}">${first}${of}</a>`}
        ${links.next !== undefined && html`<a href="${links.next}" rel="next">${next}${of}</a>`}
      </nav>`;
};

interface Head {
  readonly trail?: readonly (readonly [text: Child, path: string])[];
  readonly beside?: Child;
  readonly actions?: Child;
  readonly more?: Child;
}

export const head = (
  title: Child,
  lead: Child,
  { trail, beside, actions, more }: Head = {},
): Html =>
  html`<div class="head">
    ${trail && html`<nav aria-label="Breadcrumb"><ol class="row hint crumbs">${trail.map(([text, path]) => html`<li><a href="${path}">${text}</a></li>`)}</ol></nav>`}
    <div class="row"><h1>${title}</h1>${beside}${actions && html`<div class="row end">${actions}</div>`}</div>
    ${lead && html`<p class="lead">${lead}</p>`}
    ${more}
  </div>`;

interface Fold {
  readonly id: string;
  readonly title: string;
  readonly more?: Child;
  readonly isOpen?: boolean;
}

export const folded = ({ id, title, more, isOpen = false }: Fold, content: Child): Html =>
  html`<details class="fold" id="all-of-${id}" ${isOpen && html`open`}>
    <summary><h2 id="${id}">${title}</h2>${more}</summary>
    <div class="stack">${content}</div>
  </details>`;

export interface Tab {
  readonly to: string;
  readonly text: string;
  readonly isHere: boolean;
}

export const tabs = (of: string, all: readonly Tab[]): Html =>
  html`<nav class="tabs" aria-label="${of}">
    ${all.map(({ to, text, isHere }) => html`<a href="${to}" ${isHere && html`aria-current="page"`}>${text}</a>`)}
  </nav>`;

export type Fact = readonly [name: string, value: Child];

export const facts = (all: readonly Fact[]): Html =>
  html`<dl class="facts">${all.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

export const known = (all: readonly (Fact | false | undefined)[]): readonly Fact[] =>
  all.filter((fact) => fact !== false && fact !== undefined);

/**
 * What a column's cells contain. `name`: the thing of the row. `row`: the heading of the row. `actions`: buttons, under
 * a heading for screen readers only. `select`: a checkbox. `bare`: needs no heading. `line`: text that is cut after two
 * lines. `extra`: hidden on a phone.
 */
type Look =
  'text' | 'line' | 'bare' | 'name' | 'mono' | 'number' | 'actions' | 'select' | 'row' | 'extra';

export type Column<Thing> = readonly [title: string, look: Look, cell: (thing: Thing) => Child];

/** Requires a column for each field that is not left out by name. More columns are allowed. */
export type ColumnsOf<Thing, LeftOut extends keyof EveryField<Thing> = never> = Omit<
  EveryField<Thing, Column<Thing>>,
  LeftOut
> &
  Readonly<Record<string, Column<Thing>>>;

interface TableOptions<Thing> {
  readonly look?: string;
  readonly idOf?: (thing: Thing) => string;
  readonly isOwn?: (thing: Thing) => boolean;
}

/** Rows become cards on narrow screens, where each cell shows the heading of its column. */
export const table = <Thing>(
  things: readonly Thing[],
  columns: readonly Column<Thing>[],
  { look = '', idOf, isOwn }: TableOptions<Thing> = {},
): Html => html`<div class="table"><table class="cards-on-phone ${look}">
    <thead><tr>${columns.map(heading)}</tr></thead>
    <tbody>${things.map(
      (thing) =>
        html`<tr ${idOf && html`id="${idOf(thing)}"`} ${isOwn?.(thing) && html`class="own"`}>${columns.map((column) => cell(column, thing))}</tr>`,
    )}</tbody>
  </table></div>`;

const heading = <Thing>([title, look]: Column<Thing>): Html => {
  if (look === 'number') return html`<th scope="col" class="number">${title}</th>`;
  const isUnseen = look === 'actions' || look === 'select';
  const shown = isUnseen ? html`<span class="visually-hidden">${title}</span>` : title;
  return html`<th scope="col">${shown}</th>`;
};

const cell = <Thing>([title, look, contentOf]: Column<Thing>, thing: Thing): Html => {
  const content = contentOf(thing);
  switch (look) {
    case 'row':
      return html`<th scope="row">${content}</th>`;
    case 'bare':
      return html`<td>${content}</td>`;
    case 'name':
    case 'line':
      return html`<td class="${look}"><div>${content}</div></td>`;
    case 'actions':
    case 'select':
    case 'extra':
      return html`<td class="${look}">${content}</td>`;
    case 'text':
    case 'mono':
    case 'number':
      return html`<td ${content !== undefined && html`data-label="${title}"`}${look === 'text' ? nothing : html` class="${look}"`}>${content}</td>`;
  }
};

export const planNames: Readonly<Record<Plan, string>> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

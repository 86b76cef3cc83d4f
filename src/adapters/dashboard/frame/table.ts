import type { EveryField } from '../../../kernel/decision.ts';
import { html, nothing, type Child, type Html } from './html.ts';

/**
 * What the cells of a column hold. `name`: what the row is about. `bare`: explains itself, without its heading.
 * `actions`: buttons, under a heading that only screen readers see. `row`: the heading of its row.
 */
type Look = 'text' | 'bare' | 'name' | 'mono' | 'number' | 'actions' | 'row';

export type Column<Thing> = readonly [title: string, look: Look, cell: (thing: Thing) => Child];

/** The columns of a list by field: each field that is not left out by name has one, and there may be more. */
export type ColumnsOf<Thing, LeftOut extends keyof EveryField<Thing> = never> = Omit<
  EveryField<Thing, Column<Thing>>,
  LeftOut
> &
  Readonly<Record<string, Column<Thing>>>;

interface TableOptions<Thing> {
  /** Classes of the stylesheet. */
  readonly look?: string;
  readonly idOf?: (thing: Thing) => string;
  /** Whether the row is of the account itself, among others. */
  readonly isOwn?: (thing: Thing) => boolean;
}

/** Its rows become cards where the screen is too narrow for it; each cell then shows the heading of its column. */
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
  const shown = look === 'actions' ? html`<span class="visually-hidden">${title}</span>` : title;
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
    case 'actions':
      return html`<td class="${look}">${content}</td>`;
    case 'text':
    case 'mono':
    case 'number':
      return html`<td ${content !== undefined && html`data-label="${title}"`}${look === 'text' ? nothing : html` class="${look}"`}>${content}</td>`;
  }
};

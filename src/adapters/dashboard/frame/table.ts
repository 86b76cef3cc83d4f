import { html, nothing, type Child, type Html } from './html.ts';

/**
 * What the cells of a column hold. `name`: what the row is about. `bare`: explains itself, without its heading.
 * `actions`: buttons, under a heading that only screen readers see. `row`: the heading of its row.
 */
export type Column = 'text' | 'bare' | 'name' | 'mono' | 'number' | 'actions' | 'row';

export interface Row<Title extends string> {
  readonly cells: Readonly<Record<Title, Child>>;
  readonly id?: string;
  /** Of the account itself, among others. */
  readonly isOwn?: boolean;
}

/**
 * Its rows become cards where the screen is too narrow for it; each cell then shows the heading of its column.
 * @param columns in order, by heading
 * @param look classes of the stylesheet
 */
export const table = <Title extends string>(
  columns: Readonly<Record<Title, Column>>,
  rows: readonly Row<Title>[],
  look = '',
): Html => {
  const titles = Object.keys(columns) as Title[];
  const cellOf = (row: Row<Title>) => (title: Title) =>
    cell(title, columns[title], row.cells[title]);
  return html`<div class="table"><table class="cards-on-phone ${look}">
    <thead><tr>${titles.map((title) => heading(title, columns[title]))}</tr></thead>
    <tbody>${rows.map(
      (row) =>
        html`<tr ${row.id !== undefined && html`id="${row.id}"`} ${row.isOwn && html`class="own"`}>${titles.map(cellOf(row))}</tr>`,
    )}</tbody>
  </table></div>`;
};

const heading = (title: string, column: Column): Html => {
  if (column === 'number') return html`<th scope="col" class="number">${title}</th>`;
  const shown = column === 'actions' ? html`<span class="visually-hidden">${title}</span>` : title;
  return html`<th scope="col">${shown}</th>`;
};

const cell = (title: string, column: Column, content: Child): Html => {
  switch (column) {
    case 'row':
      return html`<th scope="row">${content}</th>`;
    case 'bare':
      return html`<td>${content}</td>`;
    case 'name':
    case 'actions':
      return html`<td class="${column}">${content}</td>`;
    case 'text':
    case 'mono':
    case 'number':
      return html`<td ${content !== undefined && html`data-label="${title}"`}${column === 'text' ? nothing : html` class="${column}"`}>${content}</td>`;
  }
};

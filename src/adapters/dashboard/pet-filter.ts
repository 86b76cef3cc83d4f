import { animalsPath, queryFields, type AnimalsQuery } from './animals-query.ts';
import { html, type Html } from './html.ts';
import { select } from './parts.ts';

export interface StatusFilter {
  readonly label: string;
  readonly button: string;
  /** In the address. */
  readonly name: string;
  readonly statuses: readonly string[];
  readonly value: string | undefined;
  /** What the other list shows goes on showing. */
  readonly kept: AnimalsQuery;
  readonly at: string;
}

/** Plain links could do it too, but not from a keyboard in two strokes. */
export const statusFilter = ({ label, button, name, value, ...filter }: StatusFilter): Html =>
  html`<form action="${animalsPath}#${filter.at}" class="row filter">
    ${queryFields(filter.kept).map(([kept, set]) => html`<input type="hidden" name="${kept}" value="${set}">`)}
    ${select({
      label,
      name,
      options: [
        { value: '', text: 'all' },
        ...filter.statuses.map((one) => ({ value: one, text: one })),
      ],
      value: value ?? '',
    })}
    <button>${button}</button>
  </form>`;

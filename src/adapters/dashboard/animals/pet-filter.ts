import { animalsPath, queryFields, type AnimalsQuery } from './query.ts';
import { html, type Html } from '../frame/html.ts';
import { select } from '../frame/form-parts.ts';

export interface StatusFilter {
  readonly label: string;
  readonly button: string;
  /** In the address. */
  readonly name: string;
  readonly statuses: readonly string[];
  readonly value: string | undefined;
  /** Keeps the state of the other list. */
  readonly kept: AnimalsQuery;
  readonly at: string;
}

/** A select instead of links: by keyboard it takes only two strokes. */
export const statusFilter = ({ label, button, name, value, ...filter }: StatusFilter): Html =>
  html`<form action="${animalsPath}#${filter.at}" class="filter">
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

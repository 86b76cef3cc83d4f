import { animalsHref, animalsPath, queryFields, type AnimalsQuery } from './query.ts';
import { html, type Html } from '../frame/html.ts';
import { select } from '../frame/form-parts.ts';
import { empty, pager } from '../frame/parts.ts';
import { table, type Column } from '../frame/table.ts';

/** Some of a long list, newest first. */
export interface Stretch<Thing> {
  readonly shown: readonly Thing[];
  /** What comes next has lower ids than this. */
  readonly next: bigint | undefined;
}

interface StatusList<Thing> {
  readonly kind: 'animal' | 'order';
  readonly title: string;
  /** Its own fields of the query; the others keep the state of the other list. */
  readonly status: 'status' | 'orderStatus';
  readonly before: 'before' | 'ordersBefore';
  readonly filter: StatusFilter;
  readonly columns: readonly Column<Thing>[];
  readonly none: Html;
  /** Of the links to other pages; see `pager`. */
  readonly pagesOf?: string;
}

interface StatusFilter {
  readonly label: string;
  readonly button: string;
  readonly name: string;
  readonly statuses: readonly string[];
}

export const statusList = <Thing extends { readonly id: bigint }>(
  list: StatusList<Thing>,
  { shown, next }: Stretch<Thing>,
  query: AnimalsQuery,
): Html => {
  const { kind, title, before, columns, pagesOf } = list;
  const at = `${kind}s`;
  const newest = { ...query, [before]: undefined };
  const older = () => animalsHref({ ...query, [before]: next }, { at });
  return html`<section class="card" id="${at}" aria-labelledby="${at}-title">
    <div class="row between">
      <h2 id="${at}-title">${title}</h2>
      ${statusFilter(list, query)}
    </div>
    ${shown.length === 0 ? nothingHere(list, query) : table(shown, columns, { idOf: ({ id }) => `${kind}-${id}` })}
    ${pager({
      first: query[before] === undefined ? undefined : animalsHref(newest, { at }),
      next: next === undefined ? undefined : older(),
      of: pagesOf,
    })}
  </section>`;
};

/** A select instead of links: by keyboard it takes only two strokes. */
const statusFilter = <Thing>(
  { kind, status, before, filter }: StatusList<Thing>,
  query: AnimalsQuery,
): Html => {
  const { label, button, name, statuses } = filter;
  const options = statuses.map((one) => [one, one] as const);
  const kept = queryFields({ ...query, [before]: undefined, [status]: undefined });
  return html`<form action="${animalsPath}#${kind}s" class="filter">
    ${kept.map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`)}
    ${select({ label, name, value: query[status], options: [['', 'all'], ...options] })}
    <button>${button}</button>
  </form>`;
};

const nothingHere = <Thing>(
  { kind, status, before, none }: StatusList<Thing>,
  query: AnimalsQuery,
): Html => {
  if (query[before] !== undefined) {
    return empty(`No older ${kind}s`, 'You have reached the end of the list.');
  }
  const wanted = query[status];
  return wanted === undefined
    ? none
    : empty(`No ${kind} is ${wanted}`, 'Choose another status above.');
};

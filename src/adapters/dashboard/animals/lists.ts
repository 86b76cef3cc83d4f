import { type Order, type OrderStatus, orderStatuses } from '../../../catalogue/domain/order.ts';
import { type Pet, type PetStatus, petStatuses } from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { select } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import {
  badge,
  type Column,
  count,
  day,
  empty,
  type ListPart,
  pager,
  table,
  type Tone,
} from '../frame/parts.ts';
import { animalsHref, animalsPath, type AnimalsQuery, queryFields } from './query.ts';
import { orderLifecycle, petLifecycle, stepForms } from './steps.ts';

const petTones: Readonly<Record<PetStatus, Tone>> = {
  available: 'good',
  pending: 'busy',
  sold: 'idle',
};

const petColumns: EveryField<Pet, Column<Pet>> = {
  id: ['Id', 'mono', ({ id }) => String(id)],
  name: ['Name', 'name', ({ name }) => name],
  categoryId: ['Category', 'mono', ({ categoryId }) => String(categoryId)],
  status: ['Status', 'text', ({ status }) => badge(status, petTones[status])],
};

const noPets = empty(
  'No animals yet',
  html`Add the first one above, or with <code>POST /v1/pets</code> and an API key.`,
);

export const petList = (pets: ListPart<Pet>, query: AnimalsQuery): Html => {
  const steps = (pet: Pet) => stepForms({ kind: 'animal', ...pet }, petLifecycle, query);
  return statusList(
    {
      kind: 'animal',
      title: 'Inventory',
      status: 'status',
      before: 'before',
      filter: { label: 'Status', button: 'Filter', name: 'status', statuses: petStatuses },
      columns: [...Object.values(petColumns), ['Actions', 'actions', steps]],
      none: noPets,
    },
    pets,
    query,
  );
};

const orderTones: Readonly<Record<OrderStatus, Tone>> = {
  placed: 'busy',
  approved: 'good',
  delivered: 'idle',
};

/** With the name of its animal; undefined if that cannot be found. */
export type NamedOrder = Order & { readonly petName: string | undefined };

const orderColumns: EveryField<Order, Column<NamedOrder>> = {
  id: ['Order', 'mono', ({ id }) => String(id)],
  petId: [
    'Animal',
    'name',
    ({ petName, petId }) =>
      html`<span>${petName} <span class="mono quiet">#${String(petId)}</span></span>`,
  ],
  quantity: ['Quantity', 'text', ({ quantity }) => count(quantity)],
  shipDate: ['Ship date', 'text', ({ shipDate }) => day(shipDate)],
  status: ['Status', 'text', ({ status }) => badge(status, orderTones[status])],
};

export const orderList = (orders: ListPart<NamedOrder>, query: AnimalsQuery): Html => {
  const steps = ({ id, status }: Order) =>
    stepForms({ kind: 'order', id, status }, orderLifecycle, query);
  return statusList(
    {
      kind: 'order',
      title: 'Orders',
      status: 'orderStatus',
      before: 'ordersBefore',
      filter: {
        label: 'Order status',
        button: 'Show',
        name: 'order_status',
        statuses: orderStatuses,
      },
      columns: [...Object.values(orderColumns), ['Actions', 'actions', steps]],
      none: empty('No orders yet', 'Press “Sell” on an animal to create its order.'),
      pagesOf: 'orders',
    },
    orders,
    query,
  );
};

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

const statusList = <Thing extends { readonly id: bigint }>(
  list: StatusList<Thing>,
  { shown, last }: ListPart<Thing>,
  query: AnimalsQuery,
): Html => {
  const { kind, title, before, columns, pagesOf } = list;
  const at = `${kind}s`;
  const newest = { ...query, [before]: undefined };
  const older = () => animalsHref({ ...query, [before]: last?.id }, { at });
  return html`<section class="card" id="${at}" aria-labelledby="${at}-title">
    <div class="row between">
      <h2 id="${at}-title">${title}</h2>
      ${statusFilter(list, query)}
    </div>
    ${shown.length === 0 ? nothingHere(list, query) : table(shown, columns, { idOf: ({ id }) => `${kind}-${id}` })}
    ${pager({
      first: query[before] === undefined ? undefined : animalsHref(newest, { at }),
      next: last && older(),
      of: pagesOf,
    })}
  </section>`;
};

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

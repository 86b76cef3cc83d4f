import {
  orderStatuses,
  orderTransitions,
  type Order,
  type OrderStatus,
} from '../../../catalogue/domain/order.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import { animalsHref, type AnimalsQuery } from './query.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, count, day, empty, pager, type Tone } from '../frame/parts.ts';
import { statusFilter } from './pet-filter.ts';
import type { Stretch } from './pet-list.ts';
import { orderSteps, stepsFrom } from './pet-steps.ts';
import { stepForm } from './step-form.ts';
import { table, type Row } from '../frame/table.ts';

const tones: Readonly<Record<OrderStatus, Tone>> = {
  placed: 'busy',
  approved: 'good',
  delivered: 'idle',
};

/** With the name of its animal; undefined if that cannot be found. */
export type NamedOrder = Order & { readonly petName: string | undefined };

export const orderList = ({ shown, next }: Stretch<NamedOrder>, query: AnimalsQuery): Html => {
  const { orderStatus, ordersBefore } = query;
  const newest = { ...query, ordersBefore: undefined };
  return html`<section class="card" id="orders" aria-labelledby="orders-title">
    <div class="row between">
      <h2 id="orders-title">Orders</h2>
      ${statusFilter({ label: 'Order status', button: 'Show', name: 'order_status', statuses: orderStatuses, value: orderStatus, kept: { ...newest, orderStatus: undefined }, at: 'orders' })}
    </div>
    ${
      shown.length === 0
        ? nothingHere(query)
        : table(
            columns,
            shown.map((order) => rowOf(order, query)),
          )
    }
    ${pager({
      first: ordersBefore === undefined ? undefined : animalsHref(newest, { at: 'orders' }),
      next:
        next === undefined
          ? undefined
          : animalsHref({ ...query, ordersBefore: next }, { at: 'orders' }),
      of: 'orders',
    })}
  </section>`;
};

/** The column of each field. */
const labels = {
  id: 'Order',
  petId: 'Animal',
  quantity: 'Quantity',
  shipDate: 'Ship date',
  status: 'Status',
} as const satisfies EveryField<Order, string>;

const columns = {
  [labels.id]: 'mono',
  [labels.petId]: 'name',
  [labels.quantity]: 'text',
  [labels.shipDate]: 'text',
  [labels.status]: 'text',
  Actions: 'actions',
} as const satisfies Readonly<Record<(typeof labels)[keyof Order] | 'Actions', string>>;

const rowOf = (
  { id, petId, petName, ...order }: NamedOrder,
  query: AnimalsQuery,
): Row<keyof typeof columns> => ({
  id: `order-${id}`,
  cells: {
    [labels.id]: String(id),
    [labels.petId]: html`<span>${petName} <span class="mono quiet">#${String(petId)}</span></span>`,
    [labels.quantity]: count(order.quantity),
    [labels.shipDate]: day(order.shipDate),
    [labels.status]: badge(order.status, tones[order.status]),
    Actions: stepsFrom(orderTransitions, orderSteps, order.status).map((step) =>
      stepForm(step, animalsHref(query, { below: `/orders/${id}/${step.name}` }), {
        kind: 'order',
        id,
      }),
    ),
  },
});

const nothingHere = ({ orderStatus, ordersBefore }: AnimalsQuery): Html => {
  if (ordersBefore !== undefined)
    return empty('No older orders', 'You have reached the end of the list.');
  if (orderStatus !== undefined) {
    return empty(`No order is ${orderStatus}`, 'Choose another status above.');
  }
  return empty('No orders yet', 'An order is created when an animal is sold.');
};

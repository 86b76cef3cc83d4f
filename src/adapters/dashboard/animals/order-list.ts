import {
  orderStatuses,
  orderTransitions,
  type Order,
  type OrderStatus,
} from '../../../catalogue/domain/order.ts';
import { animalsHref, type AnimalsQuery } from './query.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, count, day, empty, pager, type Tone } from '../frame/parts.ts';
import { statusFilter } from './pet-filter.ts';
import type { Stretch } from './pet-list.ts';
import { orderSteps, stepsFrom } from './pet-steps.ts';
import { stepForm } from './step-form.ts';

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
    <div class="row list-head">
      <h2 id="orders-title">Orders</h2>
      ${statusFilter({ label: 'Order status', button: 'Show', name: 'order_status', statuses: orderStatuses, value: orderStatus, kept: { ...newest, orderStatus: undefined }, at: 'orders' })}
    </div>
    ${shown.length === 0 ? nothingHere(query) : table(shown, query)}
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

const table = (orders: readonly NamedOrder[], query: AnimalsQuery): Html =>
  html`<div class="table"><table class="cards-on-phone">
    <thead><tr>
      <th scope="col">Order</th><th scope="col">Animal</th><th scope="col">Quantity</th><th scope="col">Ship date</th>
      <th scope="col">Status</th><th scope="col"><span class="visually-hidden">Actions</span></th>
    </tr></thead>
    <tbody>${orders.map((order) => row(order, query))}</tbody>
  </table></div>`;

const row = ({ id, petId, petName, ...order }: NamedOrder, query: AnimalsQuery): Html =>
  html`<tr id="order-${String(id)}">
    <td data-label="Order" class="mono">${String(id)}</td>
    <td data-label="Animal" class="name"><span>${petName} <span class="mono quiet">#${String(petId)}</span></span></td>
    <td data-label="Quantity">${count(order.quantity)}</td>
    <td data-label="Ship date">${day(order.shipDate)}</td>
    <td data-label="Status">${badge(order.status, tones[order.status])}</td>
    <td class="actions">${stepsFrom(orderTransitions, orderSteps, order.status).map((step) => stepForm(step, animalsHref(query, { below: `/orders/${id}/${step.name}` }), { kind: 'order', id }))}</td>
  </tr>`;

const nothingHere = ({ orderStatus, ordersBefore }: AnimalsQuery): Html => {
  if (ordersBefore !== undefined)
    return empty('No older orders', 'You have reached the end of the list.');
  if (orderStatus !== undefined) {
    return empty(`No order is ${orderStatus}`, 'Choose another status above.');
  }
  return empty('No orders yet', 'An order is created when an animal is sold.');
};

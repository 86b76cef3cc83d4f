import {
  orderStatuses,
  orderTransitions,
  type Order,
  type OrderStatus,
} from '../../catalogue/domain/order.ts';
import { animalsHref, type AnimalsQuery } from './animals-query.ts';
import { html, type Html } from './html.ts';
import { badge, buttonForm, count, day, empty, pager, type Tone } from './parts.ts';
import { statusFilter } from './pet-filter.ts';
import type { Stretch } from './pet-list.ts';
import { orderSteps, stepsFrom } from './pet-steps.ts';

const tones: Readonly<Record<OrderStatus, Tone>> = {
  placed: 'busy',
  approved: 'good',
  delivered: 'idle',
};

export const orderList = ({ shown, next }: Stretch<Order>, query: AnimalsQuery): Html => {
  const { orderStatus, ordersBefore } = query;
  const newest = { ...query, ordersBefore: undefined };
  return html`<section class="card" id="orders" aria-labelledby="orders-title">
    <div class="row list-head">
      <h2 id="orders-title">Orders</h2>
      ${statusFilter({ label: 'Orders that are', button: 'Show', name: 'order_status', statuses: orderStatuses, value: orderStatus, kept: { ...newest, orderStatus: undefined }, at: 'orders' })}
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

const table = (orders: readonly Order[], query: AnimalsQuery): Html =>
  html`<div class="table"><table class="cards-on-phone">
    <thead><tr>
      <th scope="col">Order</th><th scope="col">Animal</th><th scope="col">Quantity</th><th scope="col">Ships</th>
      <th scope="col">Status</th><th scope="col"><span class="visually-hidden">Actions</span></th>
    </tr></thead>
    <tbody>${orders.map((order) => row(order, query))}</tbody>
  </table></div>`;

const row = ({ id, petId, quantity, shipDate, status }: Order, query: AnimalsQuery): Html =>
  html`<tr id="order-${String(id)}">
    <td data-label="Order" class="mono">${String(id)}</td>
    <td data-label="Animal" class="mono">${String(petId)}</td>
    <td data-label="Quantity">${count(quantity)}</td>
    <td data-label="Ships">${day(shipDate)}</td>
    <td data-label="Status">${badge(status, tones[status])}</td>
    <td class="actions">${stepsFrom(orderTransitions, orderSteps, status).map((step) => buttonForm(animalsHref(query, { below: `/orders/${id}/${step.name}` }), step.label, { about: `${step.label} order ${id}` }))}</td>
  </tr>`;

const nothingHere = ({ orderStatus, ordersBefore }: AnimalsQuery): Html => {
  if (ordersBefore !== undefined) return empty('No older orders', 'These were all of them.');
  if (orderStatus !== undefined) {
    return empty(`No order is ${orderStatus}`, 'Choose another status above.');
  }
  return empty('No orders yet', 'Selling an animal makes its order. It then waits to be approved.');
};

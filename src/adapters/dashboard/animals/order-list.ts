import { orderStatuses, type Order, type OrderStatus } from '../../../catalogue/domain/order.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import type { AnimalsQuery } from './query.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, count, day, empty, type Tone } from '../frame/parts.ts';
import { statusList, type Stretch } from './status-list.ts';
import { orderLifecycle, stepForms } from './steps.ts';
import type { Column } from '../frame/table.ts';

const tones: Readonly<Record<OrderStatus, Tone>> = {
  placed: 'busy',
  approved: 'good',
  delivered: 'idle',
};

/** With the name of its animal; undefined if that cannot be found. */
export type NamedOrder = Order & { readonly petName: string | undefined };

/** The column of each field. */
const columns: EveryField<Order, Column<NamedOrder>> = {
  id: ['Order', 'mono', ({ id }) => String(id)],
  petId: [
    'Animal',
    'name',
    ({ petName, petId }) =>
      html`<span>${petName} <span class="mono quiet">#${String(petId)}</span></span>`,
  ],
  quantity: ['Quantity', 'text', ({ quantity }) => count(quantity)],
  shipDate: ['Ship date', 'text', ({ shipDate }) => day(shipDate)],
  status: ['Status', 'text', ({ status }) => badge(status, tones[status])],
};

const none = empty('No orders yet', 'An order is created when an animal is sold.');

export const orderList = (orders: Stretch<NamedOrder>, query: AnimalsQuery): Html => {
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
      columns: [...Object.values(columns), ['Actions', 'actions', steps]],
      none,
      pagesOf: 'orders',
    },
    orders,
    query,
  );
};

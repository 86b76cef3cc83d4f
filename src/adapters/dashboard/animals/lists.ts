import { orderStatuses, type Order, type OrderStatus } from '../../../catalogue/domain/order.ts';
import { petStatuses, type Pet, type PetStatus } from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import type { AnimalsQuery } from './query.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, count, day, empty, type Tone } from '../frame/parts.ts';
import { statusList, type Stretch } from './status-list.ts';
import { orderLifecycle, petLifecycle, stepForms } from './steps.ts';
import type { Column } from '../frame/table.ts';

const petTones: Readonly<Record<PetStatus, Tone>> = {
  available: 'good',
  pending: 'busy',
  sold: 'idle',
};

/** The column of each field. */
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

export const petList = (pets: Stretch<Pet>, query: AnimalsQuery): Html => {
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
      columns: [...Object.values(orderColumns), ['Actions', 'actions', steps]],
      none: empty('No orders yet', 'Press “Sell” on an animal to create its order.'),
      pagesOf: 'orders',
    },
    orders,
    query,
  );
};

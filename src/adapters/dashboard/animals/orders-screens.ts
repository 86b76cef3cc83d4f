import type { Catalogue } from '../../../catalogue/catalogue.ts';
import type { Order } from '../../../catalogue/domain/order.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { allPages, type CsvColumn, csvPage, sendCsv } from '../frame/csv.ts';
import { formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { addressOf, csvLink, filterBar, listBar, noMatch, rowList } from '../frame/list-parts.ts';
import {
  type Column,
  count,
  counted,
  day,
  empty,
  facts,
  head,
  listPart,
  pager,
} from '../frame/parts.ts';
import { bareForm, type Form, type Screen, type Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { historyOf } from './history.ts';
import {
  animalsPath,
  idOf,
  ordersAddress,
  ordersPath,
  ordersPlace,
  readOrdersQuery,
} from './query.ts';
import {
  animalPath,
  orderBadge,
  orderButtons,
  orderChoices,
  orderPath,
  orderSteps,
} from './steps.ts';

const perPage = 50;
const csvPath = `${ordersPath}.csv`;
const notices = Object.fromEntries(Object.values(orderSteps).map(({ name, told }) => [name, told]));

type NamedOrder = Order & { readonly petName: string | undefined };

const named = async (
  catalogue: Catalogue,
  accountId: string,
  orders: readonly Order[],
): Promise<readonly NamedOrder[]> => {
  const ids = orders.map(({ petId }) => petId);
  const names = new Map(
    (await catalogue.findPets(accountId, ids)).map((pet) => [pet.id, pet.name]),
  );
  return orders.map((order) => ({ ...order, petName: names.get(order.petId) }));
};

export const ordersScreen = ({ catalogue }: DashboardPorts): Screen => ({
  path: ordersPath,
  section: 'orders',
  // The list is not live, because new rows would move the buttons away from under the pointer.
  live: false,
  notices,
  show: async (visit, refusal) => {
    const { accountId } = visit;
    const query = readOrdersQuery(visit.query);
    const page = { before: query.before, limit: perPage + 1 };
    const found = await catalogue.newestOrders(accountId, page, query.status);
    return {
      title: 'Orders',
      content: html`
        ${head('Orders', 'Selling an animal creates its order. Approve it, then deliver it.')}
        ${formError(refusal, false)}
        ${list(await named(catalogue, accountId, found), visit)}`,
    };
  },
  others: [
    {
      method: 'GET',
      path: csvPath,
      answer: ({ accountId, query }, ctx) => {
        const { status } = readOrdersQuery(query);
        const read = async (last: Order | undefined) => {
          const page = { before: last?.id, limit: csvPage };
          return named(catalogue, accountId, await catalogue.newestOrders(accountId, page, status));
        };
        sendCsv(ctx, { name: 'orders', columns: Object.values(csvColumns) }, allPages(read));
        return Promise.resolve(undefined);
      },
    },
  ],
});

const csvColumns: EveryField<NamedOrder, CsvColumn<NamedOrder>> = {
  id: ['id', ({ id }) => id],
  petId: ['animalId', ({ petId }) => petId],
  petName: ['animal', ({ petName }) => petName],
  quantity: ['quantity', ({ quantity }) => quantity],
  shipDate: ['shipDate', ({ shipDate }) => shipDate.toISOString()],
  status: ['status', ({ status }) => status],
};

const list = (found: readonly NamedOrder[], { query: asked, may }: Visit): Html => {
  const query = readOrdersQuery(asked);
  const { shown, last } = listPart(found, perPage);
  const address = ordersAddress(query);
  if (shown.length === 0 && query.status === undefined && query.before === undefined)
    return nothingYet(may);
  const back = ordersPlace(asked, { list: 'yes' });
  const columns: readonly Column<NamedOrder>[] = [
    ...Object.values(orderColumns(ordersPlace(asked))),
    ['Actions', 'actions', (order) => may('order.change') && orderButtons(order, back)],
  ];
  return html`<section class="stack" aria-label="Orders">
    ${listBar(
      filterBar(address, 'Status', { name: 'status', choices: orderChoices }),
      csvLink(addressOf({ ...address, path: csvPath })),
    )}
    ${shown.length === 0 ? noMatch(address, 'orders') : rowList(shown, columns, { idOf: ({ id }) => `order-${id}` })}
    ${pager({
      first: query.before === undefined ? undefined : addressOf(address),
      next: last && addressOf(address, { before: String(last.id) }),
    })}
  </section>`;
};

const orderColumns = (place: string): Omit<EveryField<Order, Column<NamedOrder>>, 'petId'> => ({
  id: [
    'Order',
    'name',
    (order) =>
      html`<a href="${orderPath(order)}${place}">Order ${String(order.id)}</a> <span class="quiet">${order.petName ?? `animal ${order.petId}`}</span>`,
  ],
  quantity: ['Quantity', 'extra', ({ quantity }) => counted(quantity, 'animal')],
  shipDate: ['Ship date', 'text', ({ shipDate }) => html`ships ${day(shipDate)}`],
  status: ['Status', 'bare', orderBadge],
});

const nothingYet = (may: Visit['may']): Html =>
  empty(
    'No orders yet',
    'Selling an animal creates its order.',
    may('animal.change') &&
      html`<p><a class="button" href="${animalsPath}?status=available">Choose an animal to sell</a></p>`,
  );

const path = `${ordersPath}/:id`;

export const orderScreen = (ports: DashboardPorts): Screen => {
  const { catalogue } = ports;
  return {
    path,
    section: 'orders',
    live: false,
    notices,
    show: async (visit, refusal) => {
      const { accountId, may } = visit;
      const place = ordersPlace(visit.query);
      const order = await catalogue.getOrder(accountId, idOf(visit));
      const [pet] = await catalogue.findPets(accountId, [order.petId]);
      const petId = String(order.petId);
      return {
        title: `Order ${order.id}`,
        content: html`
          ${head(`Order ${order.id}`, undefined, {
            trail: [['Orders', ordersPath + place]],
            beside: orderBadge(order),
            actions: may('order.change') && orderButtons(order, place),
          })}
          ${formError(refusal, false)}
          <section class="card" aria-label="Order">${facts([
            [
              'Animal',
              html`<a href="${animalPath({ id: order.petId })}">${pet?.name ?? petId}</a>`,
            ],
            ['Quantity', count(order.quantity)],
            ['Ship date', day(order.shipDate)],
          ])}</section>
          ${await historyOf(ports, visit, [{ petId }, { orderId: String(order.id) }])}`,
      };
    },
    forms: Object.values(orderSteps).map((step) => stepping(catalogue, step)),
  };
};

/** Returns to the list if the button was pressed there. If another person was faster, the page says so. */
const stepping = (
  catalogue: Catalogue,
  { name, act }: (typeof orderSteps)[keyof typeof orderSteps],
): Form =>
  bareForm({
    name,
    operation: 'order.change',
    path: `${path}/${name}`,
    act: async (visit) => {
      const id = idOf(visit);
      await act(catalogue, visit.accountId, id);
      const place = ordersPlace(visit.query);
      if (visit.query.has('list')) return { to: `${ordersPath}${place}#order-${id}`, done: name };
      return { to: orderPath({ id }) + place, done: name };
    },
  });

import { orderStatuses, type OrderStatus } from '../../../catalogue/domain/order.ts';
import { petStatuses, readId, type Pet, type PetStatus } from '../../../catalogue/domain/pet.ts';
import { petOrders, type PetOrder, type PetSearch } from '../../../catalogue/ports.ts';
import { type ListAddress, placeIn } from '../frame/list-parts.ts';
import { notFound } from '../frame/page-problem.ts';
import type { Visit } from '../frame/screen.ts';

export const animalsPath = '/dashboard/animals';
export const ordersPath = '/dashboard/orders';

/** @throws PageProblem 404 */
export const idOf = ({ parameters }: Visit): bigint => {
  const id = readId(parameters['id']);
  if (id === undefined) throw notFound();
  return id;
};

const longestSearch = 200;

export interface AnimalsQuery {
  readonly status: PetStatus | undefined;
  readonly categoryId: bigint | undefined;
  readonly beginning: string | undefined;
  readonly order: PetOrder;
  readonly after: PetSearch['after'];
}

export const readAnimalsQuery = (query: URLSearchParams): AnimalsQuery => {
  const text = (query.get('q') ?? '').trim().slice(0, longestSearch);
  return {
    status: petStatuses.find((one) => one === query.get('status')),
    categoryId: readId(query.get('category')),
    beginning: text === '' ? undefined : text,
    order: petOrders.find((one) => one === query.get('order')) ?? 'newest',
    after: readPosition(query.get('after')),
  };
};

export const animalsAddress = ({
  status,
  categoryId,
  beginning,
  order,
}: AnimalsQuery): ListAddress => ({
  path: animalsPath,
  fields: {
    q: beginning,
    status,
    category: categoryId?.toString(),
    order: order === 'newest' ? undefined : order,
  },
});

export const animalsPlace = (query: URLSearchParams): string =>
  placeIn(query, ['q', 'status', 'category', 'order', 'after']);

/** Formats the cursor of a page from its last animal, as `12.Rex`. */
export const positionOf = ({ id, name }: Pick<Pet, 'id' | 'name'>): string => `${id}.${name}`;

const readPosition = (text: string | null): PetSearch['after'] => {
  const [, digits, name = ''] = /^(\d{1,19})\.(.{0,600})$/su.exec(text ?? '') ?? [];
  const id = readId(digits);
  return id === undefined ? undefined : { id, name };
};

export interface OrdersQuery {
  readonly status: OrderStatus | undefined;
  readonly before: bigint | undefined;
}

export const readOrdersQuery = (query: URLSearchParams): OrdersQuery => ({
  status: orderStatuses.find((one) => one === query.get('status')),
  before: readId(query.get('before')),
});

export const ordersAddress = ({ status }: Pick<OrdersQuery, 'status'>): ListAddress => ({
  path: ordersPath,
  fields: { status },
});

export const ordersPlace = (
  query: URLSearchParams,
  more: Readonly<Record<string, string>> = {},
): string => placeIn(query, ['status', 'before'], more);

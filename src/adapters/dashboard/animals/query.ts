import { orderStatuses, type OrderStatus } from '../../../catalogue/domain/order.ts';
import { petStatuses, readId, type PetStatus } from '../../../catalogue/domain/pet.ts';
import { queryText } from '../frame/paths.ts';

/**
 * The filter and position in the lists of animals and orders. Every form carries it, so that its answer shows the same
 * place.
 */
export interface AnimalsQuery {
  readonly status: PetStatus | undefined;
  /** Only animals with a lower id. */
  readonly before: bigint | undefined;
  readonly orderStatus: OrderStatus | undefined;
  /** Only orders with a lower id. */
  readonly ordersBefore: bigint | undefined;
}

export const animalsPath = '/dashboard/animals';

/** Parses the address; ignores invalid parameters. */
export const readAnimalsQuery = (query: URLSearchParams): AnimalsQuery => ({
  status: petStatuses.find((one) => one === query.get('status')),
  before: readId(query.get('before')),
  orderStatus: orderStatuses.find((one) => one === query.get('order_status')),
  ordersBefore: readId(query.get('orders_before')),
});

/** By the names that they have in addresses; only what is set. */
export const queryFields = (query: AnimalsQuery): readonly (readonly [string, string])[] => {
  const { status, before, orderStatus, ordersBefore } = query;
  const all = [
    ['status', status],
    ['before', before],
    ['order_status', orderStatus],
    ['orders_before', ordersBefore],
  ] as const;
  return all.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
};

/** @param below a path below the page */
export const animalsHref = (
  query: AnimalsQuery,
  { below = '', at }: { below?: string; at?: string } = {},
): string => {
  const search = queryText(Object.fromEntries(queryFields(query)));
  return `${animalsPath}${below}${search}${at === undefined ? '' : `#${at}`}`;
};

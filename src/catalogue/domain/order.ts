import {
  refusedTransition,
  type Decision,
  type Transitions,
  DomainError,
} from '../../kernel/decision.ts';
import type { CatalogueErrorCode } from './catalogue-error.ts';
import type { OrderApproved, OrderDelivered, PetSold } from './catalogue-event.ts';
import { moved, type Pet, type PetId } from './pet.ts';

/** From 1 to 9223372036854775807, assigned by the store in ascending order. */
export type OrderId = bigint;

export const orderStatuses = ['placed', 'approved', 'delivered'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** The whole lifecycle; docs/lifecycles.md is printed from this table. */
export const orderTransitions = {
  placed: ['approved'],
  approved: ['delivered'],
  delivered: [],
} as const satisfies Transitions<OrderStatus>;

interface OrderDraft {
  readonly petId: PetId;
  /** From 1 to 2147483647. */
  readonly quantity: number;
  readonly shipDate: Date;
  readonly status: OrderStatus;
}

export interface Order extends OrderDraft {
  readonly id: OrderId;
}

export interface Sale {
  readonly pet: Pet;
  readonly order: OrderDraft;
}

export const largestQuantity = 2147483647;

/** An order is complete once it is delivered; derived, never stored. */
export const isComplete = (order: Order): boolean => order.status === 'delivered';

export const sellPet = (
  accountId: string,
  pet: Pet,
  terms: { readonly quantity: number; readonly shipDate: Date },
  now: Date,
): Decision<Sale, PetSold> => {
  if (!Number.isInteger(terms.quantity) || terms.quantity < 1 || terms.quantity > largestQuantity) {
    throw new DomainError<CatalogueErrorCode>(
      'order_invalid',
      `quantity must be a whole number from 1 to ${String(largestQuantity)}.`,
    );
  }
  return {
    state: { pet: moved(pet, 'sold'), order: { petId: pet.id, ...terms, status: 'placed' } },
    events: [{ type: 'pet_sold', accountId, occurredAt: now, petId: String(pet.id) }],
  };
};

export const approveOrder = (
  accountId: string,
  order: Order,
  now: Date,
): Decision<Order, OrderApproved> => ({
  state: movedOrder(order, 'approved'),
  events: [{ type: 'order_approved', accountId, occurredAt: now, orderId: String(order.id) }],
});

export const deliverOrder = (
  accountId: string,
  order: Order,
  now: Date,
): Decision<Order, OrderDelivered> => ({
  state: movedOrder(order, 'delivered'),
  events: [{ type: 'order_delivered', accountId, occurredAt: now, orderId: String(order.id) }],
});

const movedOrder = (order: Order, status: OrderStatus): Order => {
  const thing = `Order ${String(order.id)}`;
  const problem = refusedTransition(orderTransitions, thing, order.status, status);
  if (problem) throw new DomainError<CatalogueErrorCode>('order_wrong_status', problem);
  return { ...order, status };
};

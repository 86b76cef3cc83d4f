import { describe, expect, test } from '@jest/globals';
import {
  approveOrder,
  deliverOrder,
  isComplete,
  orderStatuses,
  orderTransitions,
  sellPet,
  type Order,
} from '../../../src/catalogue/domain/order.ts';
import {
  petStatuses,
  petTransitions,
  releasePet,
  reservePet,
  type Pet,
} from '../../../src/catalogue/domain/pet.ts';
import type { Transitions } from '../../../src/kernel/decision.ts';

const now = new Date('2026-03-01T10:00:00Z');
const shipDate = new Date('2026-03-08T10:00:00Z');
const rex = { id: 9007199254740993n, name: 'Rex', categoryId: 7n };
const sale = { id: 9007199254740995n, petId: rex.id, quantity: 1, shipDate };

const sell = (accountId: string, pet: Pet, at: Date) => {
  const { state, events } = sellPet(accountId, pet, { quantity: 1, shipDate }, at);
  return { state: state.pet, events };
};

const petSteps = [
  { name: 'reserve', decide: reservePet, to: 'pending', event: 'pet_reserved' },
  { name: 'release', decide: releasePet, to: 'available', event: 'pet_released' },
  { name: 'sell', decide: sell, to: 'sold', event: 'pet_sold' },
] as const;
const orderSteps = [
  { name: 'approve', decide: approveOrder, to: 'approved', event: 'order_approved' },
  { name: 'deliver', decide: deliverOrder, to: 'delivered', event: 'order_delivered' },
] as const;

const walk = <From, Step>(states: readonly From[], steps: readonly Step[]) =>
  states.flatMap((from) => steps.map((step) => ({ from, ...step })));

/** The error that a decision throws, or undefined. */
const refusalOf = (decide: () => unknown): unknown => {
  try {
    decide();
    return undefined;
  } catch (error) {
    return error;
  }
};

describe.each(walk(petStatuses, petSteps))('to $name an animal that is $from', (step) => {
  const { from, to, decide, event } = step;
  const pet: Pet = { ...rex, status: from };
  const table: Transitions<Pet['status']> = petTransitions;

  test('has exactly the result in the table', () => {
    if (table[from].includes(to)) {
      const happened = { type: event, accountId: 'acct_1', occurredAt: now, petId: String(rex.id) };
      expect(decide('acct_1', pet, now)).toEqual({
        state: { ...rex, status: to },
        events: [happened],
      });
    } else {
      const refusal = refusalOf(() => decide('acct_1', pet, now));
      expect(refusal).toMatchObject({ name: 'DomainError', code: 'pet_wrong_status' });
      const why = from === to ? `${from} already` : `${from} and cannot become ${to}`;
      const words = [`Animal ${String(rex.id)} is ${why}`, ...table[from]];
      for (const word of words) expect(String(refusal)).toContain(word);
    }
    expect(pet).toEqual({ ...rex, status: from });
  });
});

describe.each(walk(orderStatuses, orderSteps))('to $name an order that is $from', (step) => {
  const { from, to, decide, event } = step;
  const order: Order = { ...sale, status: from };
  const table: Transitions<Order['status']> = orderTransitions;

  test('has exactly the result in the table', () => {
    if (table[from].includes(to)) {
      const happened = { type: event, accountId: 'acct_1', occurredAt: now };
      expect(decide('acct_1', order, now)).toEqual({
        state: { ...sale, status: to },
        events: [{ ...happened, orderId: String(sale.id) }],
      });
    } else {
      const refusal = refusalOf(() => decide('acct_1', order, now));
      expect(refusal).toMatchObject({ name: 'DomainError', code: 'order_wrong_status' });
      const why = from === to ? `${from} already` : `${from} and cannot become ${to}`;
      const words = [`Order ${String(sale.id)} is ${why}`, ...table[from]];
      for (const word of words) expect(String(refusal)).toContain(word);
    }
    expect(order).toEqual({ ...sale, status: from });
  });
});

test('an animal is for sale until it is sold, and a sale is final', () => {
  expect(petTransitions.available).toContain('sold');
  expect(petTransitions.pending).toContain('sold');
  expect(petTransitions.sold).toEqual([]);
  const refusal = refusalOf(() => releasePet('acct_1', { ...rex, status: 'sold' }, now));
  expect(String(refusal)).toContain('that is final');
});

test('an order is approved before it is delivered, and is complete after that', () => {
  expect(orderTransitions).toEqual({
    placed: ['approved'],
    approved: ['delivered'],
    delivered: [],
  });
  const complete = orderStatuses.filter((status) => isComplete({ ...sale, status }));
  expect(complete).toEqual(['delivered']);
});

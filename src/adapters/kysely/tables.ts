import { orderStatuses, type Order } from '../../catalogue/domain/order.ts';
import { petStatuses, type Pet } from '../../catalogue/domain/pet.ts';
import {
  actor,
  assigned,
  flag,
  int,
  int64,
  maybe,
  text,
  time,
  word,
  table,
  type ColumnsOf,
} from './table.ts';

// The other tables are defined next to their stores.

export const pets = table({
  id: assigned,
  accountId: text,
  name: text,
  categoryId: int64,
  status: word(petStatuses),
  searchedName: text,
} satisfies ColumnsOf<Pet, 'accountId' | 'searchedName'>);

export const orders = table({
  id: assigned,
  accountId: text,
  petId: int64,
  quantity: int,
  shipDate: time,
  status: word(orderStatuses),
} satisfies ColumnsOf<Order, 'accountId'>);

export const jobLeases = table({ job: text, holder: text, leaseUntil: time });

export const backupTimes = table({ step: text, moment: time });

export const events = table({
  id: text,
  accountId: text,
  type: text,
  details: text,
  occurredAt: time,
  actor,
  /** The object whose history contains the event: `animal 12`, `order 3`. */
  subject: maybe(text),
});

export const deliveries = table({
  id: assigned,
  eventId: text,
  subscriber: text,
  attempts: int,
  dueAt: time,
  parked: flag,
  claim: maybe(text),
  problem: maybe(text),
});

import type { Catalogue } from '../../../catalogue/catalogue.ts';
import type { OrderStatus } from '../../../catalogue/domain/order.ts';
import type { PetStatus } from '../../../catalogue/domain/pet.ts';
import type { Transitions } from '../../../kernel/transitions.ts';
import { animalsPath } from './query.ts';
import { html, type Html } from '../frame/html.ts';

/** The actions that change a status. The table of transitions says which are allowed. */
export interface Step {
  /** Last part of its path. */
  readonly name: string;
  readonly label: string;
  /** What the page says afterwards. */
  readonly told: Html | string;
  /** For a step that cannot be undone: the question, and the label of the confirming button. */
  readonly asks?: { readonly consequences: string; readonly confirm: string };
  readonly act: (catalogue: Catalogue, accountId: string, id: bigint) => Promise<unknown>;
}

export const petSteps: Readonly<Record<PetStatus, Step>> = {
  available: {
    name: 'release',
    label: 'Release',
    told: 'The animal is available again.',
    act: (catalogue, accountId, id) => catalogue.changePet(accountId, id, 'release'),
  },
  pending: {
    name: 'reserve',
    label: 'Reserve',
    told: 'The animal is reserved.',
    act: (catalogue, accountId, id) => catalogue.changePet(accountId, id, 'reserve'),
  },
  sold: {
    name: 'sell',
    label: 'Sell',
    told: html`The animal is sold. <a href="${animalsPath}#orders">View its order</a>`,
    asks: {
      consequences: 'This creates an order and cannot be undone.',
      confirm: 'Sell animal',
    },
    act: (catalogue, accountId, id) => catalogue.placeOrder(accountId, id),
  },
};

/** An order is placed by selling an animal, and by nothing else. */
export const orderSteps: Readonly<Record<Exclude<OrderStatus, 'placed'>, Step>> = {
  approved: {
    name: 'approve',
    label: 'Approve',
    told: 'The order is approved.',
    act: (catalogue, accountId, id) => catalogue.changeOrder(accountId, id, 'approve'),
  },
  delivered: {
    name: 'deliver',
    label: 'Deliver',
    told: 'The order is delivered.',
    act: (catalogue, accountId, id) => catalogue.changeOrder(accountId, id, 'deliver'),
  },
};

/** The steps that the table allows, in its order. */
export const stepsFrom = <Status extends string>(
  transitions: Transitions<Status>,
  steps: Readonly<Partial<Record<Status, Step>>>,
  status: Status,
): readonly Step[] => transitions[status].flatMap((next) => steps[next] ?? []);

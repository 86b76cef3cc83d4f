import type { Catalogue } from '../../../catalogue/catalogue.ts';
import {
  type Order,
  orderStatuses,
  type OrderStatus,
  orderTransitions,
} from '../../../catalogue/domain/order.ts';
import {
  type Pet,
  petStatuses,
  type PetStatus,
  petTransitions,
} from '../../../catalogue/domain/pet.ts';
import { buttonForm, confirmedForm } from '../frame/form-parts.ts';
import { type Child, html, type Html } from '../frame/html.ts';
import type { Choice, ListPlace } from '../frame/list-parts.ts';
import { badge, type Tone } from '../frame/parts.ts';
import { animalsPath, ordersPath } from './query.ts';

interface Step<Thing> {
  readonly name: string;
  readonly label: string;
  readonly told: string;
  /** A step that cannot be undone names its consequences and the label of the confirming button. */
  readonly asks?: { readonly consequences: string; readonly confirm: string };
  readonly act: (catalogue: Catalogue, accountId: string, id: bigint) => Promise<Thing>;
}

const petStep = (name: 'release' | 'reserve', label: string, told: string): Step<unknown> => ({
  name,
  label,
  told,
  act: (catalogue, accountId, id) => catalogue.changePet(accountId, id, name),
});

export const petSteps: Readonly<Record<PetStatus, Step<unknown>>> = {
  available: petStep('release', 'Release', 'The animal is available again.'),
  pending: petStep('reserve', 'Reserve', 'The animal is reserved.'),
  sold: {
    name: 'sell',
    label: 'Sell',
    told: 'The animal is sold, and its order is placed.',
    asks: {
      consequences: 'This creates an order and cannot be undone.',
      confirm: 'Sell animal',
    },
    act: (catalogue, accountId, id) => catalogue.placeOrder(accountId, id),
  },
};

const orderStep = (name: 'approve' | 'deliver', label: string, told: string): Step<unknown> => ({
  name,
  label,
  told,
  act: (catalogue, accountId, id) => catalogue.changeOrder(accountId, id, name),
});

export const orderSteps: Readonly<Record<Exclude<OrderStatus, 'placed'>, Step<unknown>>> = {
  approved: orderStep('approve', 'Approve', 'The order is approved.'),
  delivered: orderStep('deliver', 'Deliver', 'The order is delivered.'),
};

export const animalPath = ({ id }: Pick<Pet, 'id'>): string => `${animalsPath}/${id}`;
export const orderPath = ({ id }: Pick<Order, 'id'>): string => `${ordersPath}/${id}`;

export const petButtons = (pet: Pet, place: ListPlace): readonly Html[] =>
  petTransitions[pet.status].map((next) => {
    const { name, label, asks } = petSteps[next];
    const action = `${animalPath(pet)}/${name}${place}`;
    const about = `${label} animal ${pet.id}`;
    if (!asks) return buttonForm(action, label, { about });
    const question: Child = html`${label} <span class="name">${pet.name}</span>?`;
    return confirmedForm({ id: name, label, about, question, action, goesOn: true, ...asks });
  });

export const orderButtons = (order: Order, place: ListPlace): readonly Html[] =>
  orderTransitions[order.status].map((next) => {
    const { name, label } = orderSteps[next];
    return buttonForm(`${orderPath(order)}/${name}${place}`, label, {
      about: `${label} order ${order.id}`,
    });
  });

const petTones: Readonly<Record<PetStatus, Tone>> = {
  available: 'good',
  pending: 'busy',
  sold: 'idle',
};

const orderTones: Readonly<Record<OrderStatus, Tone>> = {
  placed: 'busy',
  approved: 'good',
  delivered: 'idle',
};

export const petBadge = ({ status }: Pet): Html => badge(status, petTones[status]);
export const orderBadge = ({ status }: Order): Html => badge(status, orderTones[status]);

const choicesOf = (statuses: readonly string[]): readonly Choice[] => [
  { value: '', text: 'All' },
  ...statuses.map((value) => ({ value, text: value })),
];
export const petChoices = choicesOf(petStatuses);
export const orderChoices = choicesOf(orderStatuses);

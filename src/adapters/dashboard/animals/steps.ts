import type { Catalogue } from '../../../catalogue/catalogue.ts';
import { type OrderStatus, orderTransitions } from '../../../catalogue/domain/order.ts';
import { type PetStatus, petTransitions } from '../../../catalogue/domain/pet.ts';
import type { Transitions } from '../../../kernel/decision.ts';
import { animalsHref, animalsPath, type AnimalsQuery } from './query.ts';
import { buttonForm, confirmedForm } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';

/** The actions that change a status. The table of transitions says which are allowed. */
export interface Step {
  /** Last part of its path. */
  readonly name: string;
  readonly label: string;
  readonly told: Html | string;
  /** For a step that cannot be undone: the question, and the label of the confirming button. */
  readonly asks?: { readonly consequences: string; readonly confirm: string };
  readonly act: (catalogue: Catalogue, accountId: string, id: bigint) => Promise<unknown>;
}

const petStep = (name: 'release' | 'reserve', label: string, told: string): Step => ({
  name,
  label,
  told,
  act: (catalogue, accountId, id) => catalogue.changePet(accountId, id, name),
});

export const petSteps: Readonly<Record<PetStatus, Step>> = {
  available: petStep('release', 'Release', 'The animal is available again.'),
  pending: petStep('reserve', 'Reserve', 'The animal is reserved.'),
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

const orderStep = (name: 'approve' | 'deliver', label: string, told: string): Step => ({
  name,
  label,
  told,
  act: (catalogue, accountId, id) => catalogue.changeOrder(accountId, id, name),
});

/** An order is placed by selling an animal, and by nothing else. */
export const orderSteps: Readonly<Record<Exclude<OrderStatus, 'placed'>, Step>> = {
  approved: orderStep('approve', 'Approve', 'The order is approved.'),
  delivered: orderStep('deliver', 'Deliver', 'The order is delivered.'),
};

interface Lifecycle<Status extends string> {
  readonly transitions: Transitions<Status>;
  readonly steps: Readonly<Partial<Record<Status, Step>>>;
}

export const petLifecycle: Lifecycle<PetStatus> = { transitions: petTransitions, steps: petSteps };
export const orderLifecycle: Lifecycle<OrderStatus> = {
  transitions: orderTransitions,
  steps: orderSteps,
};

/** The steps that the table allows, in its order. */
const stepsFrom = <Status extends string>(
  { transitions, steps }: Lifecycle<Status>,
  status: Status,
): readonly Step[] => transitions[status].flatMap((next) => steps[next] ?? []);

interface Stepping<Status> {
  readonly kind: 'animal' | 'order';
  readonly id: bigint;
  readonly status: Status;
  readonly name?: string;
}

export const stepForms = <Status extends string>(
  { kind, id, status, name = `${kind} ${id}` }: Stepping<Status>,
  lifecycle: Lifecycle<Status>,
  query: AnimalsQuery,
): readonly Html[] =>
  stepsFrom(lifecycle, status).map(({ name: step, label, asks }) => {
    const action = animalsHref(query, { below: `${below[kind]}/${id}/${step}` });
    const about = `${label} ${kind} ${id}`;
    if (!asks) return buttonForm(action, label, { about });
    const question = `${label} ${name}?`;
    return confirmedForm({ id: `${step}-${id}`, label, about, question, action, ...asks });
  });

export const below = { animal: '', order: '/orders' } as const;

export const lifecycles = (): Html =>
  html`<details>
    <summary>How the status of animals and orders can change</summary>
    <div class="columns">
      ${lifecycleTable('Animal status', petLifecycle)}
      ${lifecycleTable('Order status', orderLifecycle)}
    </div>
  </details>`;

const lifecycleTable = <Status extends string>(title: string, lifecycle: Lifecycle<Status>): Html =>
  html`<div class="card"><table>
    <thead><tr><th scope="col">${title}</th><th scope="col">can change to</th><th scope="col">with</th></tr></thead>
    <tbody>${(Object.keys(lifecycle.transitions) as Status[]).map(
      (status) =>
        html`<tr>
          <th scope="row">${status}</th>
          <td>${lifecycle.transitions[status].join(', ') || 'none (final)'}</td>
          <td>${stepsFrom(lifecycle, status)
            .map(({ label }) => label)
            .join(', ')}</td>
        </tr>`,
    )}</tbody>
  </table></div>`;

import { orderTransitions } from '../../../catalogue/domain/order.ts';
import { petTransitions } from '../../../catalogue/domain/pet.ts';
import type { Transitions } from '../../../kernel/transitions.ts';
import { html, type Html } from '../frame/html.ts';
import { orderSteps, petSteps, stepsFrom, type Step } from './pet-steps.ts';

/** How the status of animals and orders can change, printed from the tables that decide it. */
export const lifecycles = (): Html =>
  html`<details>
    <summary>How the status of animals and orders can change</summary>
    <div class="columns">
      ${lifecycle('Animal status', petTransitions, petSteps)}
      ${lifecycle('Order status', orderTransitions, orderSteps)}
    </div>
  </details>`;

const lifecycle = <Status extends string>(
  title: string,
  transitions: Transitions<Status>,
  steps: Readonly<Partial<Record<Status, Step>>>,
): Html =>
  html`<div class="card"><table>
    <thead><tr><th scope="col">${title}</th><th scope="col">can change to</th><th scope="col">with</th></tr></thead>
    <tbody>${(Object.keys(transitions) as Status[]).map(
      (status) =>
        html`<tr>
          <th scope="row">${status}</th>
          <td>${transitions[status].join(', ') || 'none (final)'}</td>
          <td>${stepsFrom(transitions, steps, status)
            .map(({ label }) => label)
            .join(', ')}</td>
        </tr>`,
    )}</tbody>
  </table></div>`;

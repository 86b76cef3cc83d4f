import { orderTransitions } from '../../catalogue/domain/order.ts';
import { petTransitions } from '../../catalogue/domain/pet.ts';
import type { Transitions } from '../../kernel/transitions.ts';
import { html, type Html } from './html.ts';
import { orderSteps, petSteps, stepsFrom, type Step } from './pet-steps.ts';

/** What may become of animals and orders, printed from the tables that decide it. */
export const lifecycles = (): Html =>
  html`<details>
    <summary>What may become of an animal, and of an order</summary>
    <div class="tables">
      ${lifecycle('An animal that is', petTransitions, petSteps)}
      ${lifecycle('An order that is', orderTransitions, orderSteps)}
    </div>
  </details>`;

const lifecycle = <Status extends string>(
  title: string,
  transitions: Transitions<Status>,
  steps: Readonly<Partial<Record<Status, Step>>>,
): Html =>
  html`<div class="card"><table>
    <thead><tr><th scope="col">${title}</th><th scope="col">may become</th><th scope="col">by</th></tr></thead>
    <tbody>${(Object.keys(transitions) as Status[]).map(
      (status) =>
        html`<tr>
          <th scope="row">${status}</th>
          <td>${transitions[status].join(', ') || 'nothing: that is final'}</td>
          <td>${stepsFrom(transitions, steps, status)
            .map(({ label }) => label)
            .join(', ')}</td>
        </tr>`,
    )}</tbody>
  </table></div>`;

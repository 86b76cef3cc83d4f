import { orderTransitions } from '../../src/catalogue/domain/order.ts';
import { petTransitions } from '../../src/catalogue/domain/pet.ts';
import { customDomainTransitions } from '../../src/domains/domain/attachment/custom-domain.ts';
import type { Transitions } from '../../src/kernel/decision.ts';
import { deployTransitions } from '../../src/sites/domain/site.ts';
import { fenced, type Printed } from './markdown.ts';

export const lifecycleDiagrams = (): Readonly<Record<string, Printed>> => ({
  animal: diagram(petTransitions, 'available'),
  order: diagram(orderTransitions, 'placed'),
  deploy: diagram(deployTransitions, 'uploading'),
  domain: diagram(customDomainTransitions, 'added'),
});

const diagram = <State extends string>(states: Transitions<State>, first: State): Printed => {
  const steps = (Object.keys(states) as State[]).flatMap((from) =>
    states[from].map((to) => `    ${from} --> ${to}`),
  );
  return fenced(['stateDiagram-v2', `    [*] --> ${first}`, ...steps], 'mermaid');
};

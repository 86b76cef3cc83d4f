import {
  approveOrder,
  deliverOrder,
  orderTransitions,
  sellPet,
  type Order,
} from '../../src/catalogue/domain/order.ts';
import {
  petTransitions,
  releasePet,
  reservePet,
  type Pet,
  type PetStatus,
} from '../../src/catalogue/domain/pet.ts';
import { DomainError } from '../../src/kernel/domain-error.ts';
import type { Transitions } from '../../src/kernel/transitions.ts';
import { code, page, printed, table } from './markdown.ts';

export const lifecyclesPage = (): string =>
  page(
    '# Lifecycles',
    printed('the tables and commands in src/catalogue/domain'),
    '## Animal',
    'An animal starts in the status that it is added with, `available` unless the request says otherwise.',
    diagram(petTransitions, 'available'),
    commandTable(petTransitions, petCommands),
    'Selling makes an order in the same transaction. `sold` is final: an animal is sold once.',
    '## Order',
    'An order starts as `placed`. The API shows `complete: true` once it is delivered.',
    diagram(orderTransitions, 'placed'),
    commandTable(orderTransitions, orderCommands),
    'A step that the table does not allow is refused, and nothing changes.',
  );

const at = new Date(0);
const petIn = (status: PetStatus): Pet => ({ id: 1n, name: 'Rex', categoryId: 1n, status });
const orderIn = (status: Order['status']): Order => ({
  id: 1n,
  petId: 1n,
  quantity: 1,
  shipDate: at,
  status,
});

type Commands<State> = Readonly<Record<string, (from: State) => State>>;

const petCommands: Commands<PetStatus> = {
  reserve: (from) => reservePet('', petIn(from), at).state.status,
  release: (from) => releasePet('', petIn(from), at).state.status,
  sell: (from) => sellPet('', petIn(from), { quantity: 1, shipDate: at }, at).state.pet.status,
};

const orderCommands: Commands<Order['status']> = {
  approve: (from) => approveOrder('', orderIn(from), at).state.status,
  deliver: (from) => deliverOrder('', orderIn(from), at).state.status,
};

const diagram = <State extends string>(states: Transitions<State>, first: State): string => {
  const steps = statesOf(states).flatMap((from) => states[from].map((to) => `${from} --> ${to}`));
  const lines = ['stateDiagram-v2', `[*] --> ${first}`, ...steps];
  return ['```mermaid', lines.join('\n    '), '```'].join('\n');
};

/** What every command does in every state, found out by asking it. */
const commandTable = <State extends string>(
  states: Transitions<State>,
  commands: Commands<State>,
): string => {
  const rows = statesOf(states).map((from) => [
    code(from),
    ...Object.values(commands).map((command) => outcome(() => command(from))),
  ]);
  return table(['Status', ...Object.keys(commands).map((name) => `On ${name}`)], rows);
};

const outcome = (command: () => string): string => {
  try {
    return code(command());
  } catch (error) {
    if (error instanceof DomainError) return 'refused';
    throw error;
  }
};

const statesOf = <State extends string>(states: Transitions<State>) =>
  Object.keys(states) as State[];

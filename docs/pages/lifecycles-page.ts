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
import { DomainError, type Transitions } from '../../src/kernel/decision.ts';
import {
  deployTransitions,
  longestUploadMs,
  type Deploy,
  deployFailed,
  deploySucceeded,
  giveUpUploads,
  rollBack,
  type Site,
} from '../../src/sites/domain/site.ts';
import {
  longestWaitForDnsMs,
  customDomainTransitions,
} from '../../src/domains/domain/attachment/custom-domain.ts';
import { domainCommands } from './domain-life.ts';
import { code, page, printed, table } from './markdown.ts';

export const lifecyclesPage = (): string =>
  page(
    '# Lifecycles',
    printed(
      'the tables and commands in src/catalogue/domain, src/sites/domain and src/domains/domain',
    ),
    '## Animal',
    'An animal starts in the status that the request gives, `available` by default.',
    diagram(petTransitions, 'available'),
    commandTable(petTransitions, petCommands),
    'Selling makes an order in the same transaction. `sold` is final: an animal is sold once.',
    '## Order',
    'An order starts as `placed`. The API shows `complete: true` once it is delivered.',
    diagram(orderTransitions, 'placed'),
    commandTable(orderTransitions, orderCommands),
    '## Deploy',
    'A deploy starts as `uploading`, before its content is read.',
    diagram(deployTransitions, 'uploading'),
    commandTable(deployTransitions, deployCommands),
    'A completed deploy is served, unless a newer one has succeeded already. Which deploy visitors get is no ' +
      'state: rolling back chooses another one. An upload that began more than ' +
      `${String(longestUploadMs / 60_000)} minutes ago was cut off and is given up.`,
    '## Custom domain',
    'A domain starts as `added`, before any DNS lookup. Its DNS report, certificate and health are separate from the ' +
      'state and change without it.',
    diagram(customDomainTransitions, 'added'),
    commandTable(customDomainTransitions, domainCommands),
    'An `added` domain becomes verified when its DNS is right, on request or by an automatic check. Verifying a ' +
      '`verified` one starts a new attempt to get its certificate. One whose certificate came before its traffic becomes verified and ' +
      'live in one step. A certificate counts only if it was ordered for this ' +
      'life of the domain; late ones are destroyed. A domain is contested when another account proves the name, and ' +
      `expires if it is not verified within ${String(longestWaitForDnsMs / 86_400_000)} days. Removing twice is no error. ` +
      'Adding a removed name again makes a new domain.',
    '## All lifecycles',
    'A step that its table does not allow is refused, and nothing changes.',
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

const deployIn = (state: Deploy['state']): Deploy => {
  const origin = { madeBy: 'operator', message: undefined } as const;
  const identity = { id: 'dep_1', number: 1, ...origin, startedAt: at };
  switch (state) {
    case 'uploading':
      return { ...identity, state };
    case 'succeeded':
      return { ...identity, state, finishedAt: at, files: 1, bytes: 1 };
    case 'failed':
      return { ...identity, state, finishedAt: at, ...reason };
  }
};
const reason = { problem: 'archive_too_large', explanation: '' } as const;
const siteWith = (deploy: Deploy): Site => ({
  project: { id: '', accountId: '', name: '', slug: '', createdAt: at, deletedAt: undefined },
  deploys: [deploy],
  servedDeployId: undefined,
  servedSince: undefined,
  lastNumber: deploy.number,
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

const tooLate = new Date(longestUploadMs + 1);

const onlyDeploy = ({ state }: { readonly state: Site }): Deploy['state'] => {
  const [deploy] = state.deploys;
  if (!deploy) throw new Error('the deploy is gone');
  return deploy.state;
};

const deployCommands: Commands<Deploy['state']> = {
  complete: (from) =>
    onlyDeploy(deploySucceeded(siteWith(deployIn(from)), 'dep_1', { files: 1, bytes: 1 }, at)),
  refuse: (from) => onlyDeploy(deployFailed(siteWith(deployIn(from)), 'dep_1', reason, at)),
  'give up': (from) => onlyDeploy(giveUpUploads(siteWith(deployIn(from)), tooLate)),
  'roll back': (from) => onlyDeploy(rollBack(siteWith(deployIn(from)), 1, at)),
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

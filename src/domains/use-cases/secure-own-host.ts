import type { Hold } from '../domain/certificates/ca-budget.ts';
import { orderNotMade } from '../domain/certificates/ca-ledger.ts';
import { keepsOrder } from '../domain/certificates/standing.ts';
import { ownDueAt, ownOrderedAt, type OwnName } from '../domain/own/own-name.ts';
import {
  claimOwnOrder,
  countOwnAgain,
  leaveOwnOrder,
  ownSubject,
  settleOwnOrder,
  type OwnClaim,
} from '../domain/own/own-order.ts';
import type { DomainPorts } from '../ports.ts';
import type { OrderOutcome, OrderPorts, OrderSubject } from './advance-order.ts';
import { authorityNamed } from './authorities.ts';
import { mayReplace, ownHold, taskFor, type GivenTask, type OwnTask } from './own-host.ts';
import { secureName, type SettledOutcome } from './secure-name.ts';

export type OwnHostPorts = OrderPorts &
  Pick<DomainPorts, 'certificates' | 'ledger' | 'clock' | 'ownNames'>;

/** `refused`: the authority is rate limiting us or does not answer, whatever the host. */
export type OwnHostResult = 'issued' | 'failed' | 'refused' | 'held up';

/** Advances the certificate of a name as far as possible now. */
export const secureOwnHost =
  (ports: OwnHostPorts) =>
  async (its: GivenTask): Promise<OwnHostResult> => {
    const known = await leaveLost(ports, its);
    if (ownDueAt(known) > ports.clock.now()) return 'held up';
    const task = await exempted(ports, taskFor(ports, { ...its, known }));
    if (await ownHold(ports, task)) return 'held up';
    const outcome = await secureName<OwnOrder>(ports, {
      ordered: ownOrderedAt(known) === undefined ? undefined : await ownOrder(ports, task, known),
      claim: () => claimOwn(ports, task),
      settle: settleOwn(ports, task),
    });
    return outcome ? resultOf(outcome) : 'held up';
  };

/** Where the authority still says when to renew the certificate, it counts no order for it (RFC 9773, section 5). */
const exempted = async (ports: OwnHostPorts, task: OwnTask): Promise<OwnTask> => {
  const { known, authority } = task;
  const isNew = ownOrderedAt(known) === undefined && mayReplace(known, authority);
  const current = isNew ? await ports.certificates.find(known.host) : undefined;
  const at = authorityNamed(ports, authority);
  const window = current && (await at?.renewalWindow(current.chain));
  return typeof window === 'object' ? { ...task, kind: 'exempt' } : task;
};

/** An order at an authority that has been away for long is given up, if another one may be asked. */
const leaveLost = async (
  { ownNames, clock }: OwnHostPorts,
  { known, mayIssue }: GivenTask,
): Promise<OwnName> => {
  const at = ownOrderedAt(known);
  const now = clock.now();
  const fence = { generation: known.generation, mayIssue };
  if (at === undefined || !leaveOwnOrder(known, fence, now).endsOrder) return known;
  const left = await ownNames.change(known.host, (one) => leaveOwnOrder(one ?? known, fence, now));
  return left.name;
};

interface OwnOrder extends OrderSubject {
  readonly generation: number;
}

/** It is taken back first, because it would stand in its own way. */
const countedAgain = async (
  { ownNames, clock }: OwnHostPorts,
  ordered: OwnName,
  its: Pick<OwnClaim, 'ledgerName' | 'kind'>,
): Promise<Hold | undefined> => {
  const now = clock.now();
  const ledger = orderNotMade(ownSubject(ordered));
  await ownNames.change(ordered.host, (name = ordered) => ({ name, ledger }));
  const ledgerName = { ...its.ledgerName, host: ordered.host };
  const { hold } = await ownNames.changeCounted(ledgerName, now, (name = ordered, use) =>
    countOwnAgain(name, { ...its, use }, now),
  );
  return hold;
};

const ownOrder = async (
  ports: OwnHostPorts,
  { own }: OwnTask,
  ordered: OwnName,
): Promise<OwnOrder> => {
  const { certificates, ownNames } = ports;
  const { host, generation } = ordered;
  const authority = ownOrderedAt(ordered) ?? '';
  const subject = ownSubject(ordered);
  const current = mayReplace(ordered, authority) ? await certificates.find(host) : undefined;
  const ledgerName = { ...own.name, authority };
  const isWanted = async (): Promise<boolean> => {
    const name = await ownNames.find(host);
    return name?.generation === generation && ownOrderedAt(name) !== undefined;
  };
  return {
    ...{ authority, subject, host, also: own.also, orderKey: subject, generation },
    ...{ replaces: current?.chain, proof: own.proof, isWanted },
    countAgain: () => countedAgain(ports, ordered, { ledgerName, kind: own.kinds.later }),
  };
};

const claimOwn = async (ports: OwnHostPorts, task: OwnTask): Promise<OwnOrder | undefined> => {
  const { own, known, authority, kind } = task;
  const now = ports.clock.now();
  const ledgerName = { ...own.name, authority };
  const { generation } = known;
  const claim = { generation, ledgerName, kind };
  const { verdict, name } = await ports.ownNames.changeCounted(ledgerName, now, (one, use) =>
    claimOwnOrder(one ?? known, { ...claim, use }, now),
  );
  return verdict !== 'too_late' && verdict.allowed ? ownOrder(ports, task, name) : undefined;
};

const settleOwn =
  ({ ownNames, clock }: OwnHostPorts, { own, known, mayIssue }: OwnTask) =>
  async ({ generation, authority }: OwnOrder, end: SettledOutcome): Promise<void> => {
    const settled = { generation, end, mayIssue, ledgerName: { ...own.name, authority } };
    await ownNames.change(own.name.host, (one) =>
      settleOwnOrder(one ?? known, settled, clock.now()),
    );
  };

const resultOf = (outcome: OrderOutcome): OwnHostResult => {
  if (outcome.kind === 'issued') return 'issued';
  if (outcome.kind === 'held_up') return 'held up';
  if (outcome.kind !== 'failed' && outcome.kind !== 'not_placed') return 'failed';
  return keepsOrder(outcome.failure.reason) ? 'refused' : 'failed';
};

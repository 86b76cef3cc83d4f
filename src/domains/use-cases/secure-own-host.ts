import { mayOrder, type OrderKind } from '../domain/certificates/ca-budget.ts';
import { orderEnded, type LedgerName } from '../domain/certificates/ca-ledger.ts';
import { keepsOrder } from '../domain/certificates/standing.ts';
import type { DomainPorts } from '../ports.ts';
import type { OrderOutcome, OrderPorts, OrderSubject } from './advance-order.ts';
import { secureName, type SettledOutcome } from './secure-name.ts';

export type OwnHostPorts = OrderPorts &
  Pick<DomainPorts, 'certificates' | 'ledger' | 'clock' | 'ids'>;

/** The own host of a project, below the platform's. */
export interface OwnHost {
  readonly name: LedgerName;
  readonly kind: Extract<OrderKind, 'own' | 'own_renewal'>;
}

/** `refused`: the authority is rate limiting us or does not answer, whatever the host. */
export type OwnHostResult = 'issued' | 'failed' | 'refused' | 'held up';

/** One subject per host, so a host never has two orders at a time. */
export const ownSubject = (host: string): string => `platform:${host}`;

/** Advances the certificate of a project's own host as far as possible now. */
export const secureOwnHost = (ports: OwnHostPorts) => {
  const { ledger, clock } = ports;
  const secure = secureName(ports);
  const claim = claimOwn(ports);
  const settle = settleOwn(ports);
  return async (own: OwnHost): Promise<OwnHostResult> => {
    const now = clock.now();
    // Runs follow each other closely: an authority that refuses must not be asked in each of them.
    const failures = { isManual: false, kind: 'counted' } as const;
    if (!mayOrder(await ledger.use(own.name, now), failures, now).allowed) return 'held up';
    const outcome = await secure({
      ordered: ownOrder(own, ownSubject(own.name.host)),
      claim: () => claim(own),
      settle: (order, came) => settle(own, order, came),
    });
    return outcome ? resultOf(outcome) : 'held up';
  };
};

/** A project keeps its own host for as long as it exists, so the order is always wanted. */
const ownOrder = ({ name: { host } }: OwnHost, orderKey: string): OrderSubject => ({
  ...{ subject: ownSubject(host), host, orderKey, replaces: undefined },
  isWanted: () => Promise.resolve(true),
});

const claimOwn =
  ({ ledger, clock, ids }: OwnHostPorts) =>
  async (own: OwnHost): Promise<OrderSubject | undefined> => {
    const { name, kind } = own;
    const now = clock.now();
    const orderKey = `${ownSubject(name.host)}:${ids.next('ord')}`;
    const order = { ...name, kind, orderKey, isManual: false, occurredAt: now };
    const { allowed } = await ledger.reserve(order, (use) => mayOrder(use, order, now));
    return allowed ? ownOrder(own, orderKey) : undefined;
  };

const settleOwn =
  ({ certificates, ledger, orders, clock }: OwnHostPorts) =>
  async ({ name }: OwnHost, order: OrderSubject, outcome: SettledOutcome): Promise<void> => {
    if (outcome.kind === 'processing') return;
    if (outcome.kind === 'issued') {
      await certificates.save(outcome.certificate);
      return orders.forget(order.subject);
    }
    const { reason } = outcome.failure;
    const now = clock.now();
    const entry = { ...name, orderKey: order.orderKey, isManual: false };
    const ended = orderEnded(entry, outcome, now);
    // A recorded failure is the only thing that stops the next run from asking a rate-limiting authority again.
    const limited = { ...entry, kind: 'failure', occurredAt: now } as const;
    const change = reason === 'rate_limited' ? { ...ended, entered: [limited] } : ended;
    const isOver = outcome.kind === 'not_placed' || !keepsOrder(reason);
    await (isOver ? orders.forget(order.subject, change) : ledger.settle(change));
  };

const resultOf = (outcome: OrderOutcome): OwnHostResult => {
  if (outcome.kind === 'issued') return 'issued';
  if (outcome.kind !== 'failed' && outcome.kind !== 'not_placed') return 'failed';
  return keepsOrder(outcome.failure.reason) ? 'refused' : 'failed';
};

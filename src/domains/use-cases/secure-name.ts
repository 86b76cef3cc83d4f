import { mayOrder, type Hold, type WantedAttempt } from '../domain/certificates/ca-budget.ts';
import type { LedgerName } from '../domain/certificates/ca-ledger.ts';
import type { DomainPorts } from '../ports.ts';
import {
  advanceOrder,
  type OrderOutcome,
  type OrderPorts,
  type OrderSubject,
} from './advance-order.ts';

/** What an attempt has to wait for now; undefined: it may be made. */
export const findHold = async (
  { ledger, clock }: Pick<DomainPorts, 'ledger' | 'clock'>,
  name: LedgerName,
  wanted: WantedAttempt,
): Promise<Hold | undefined> => {
  const now = clock.now();
  const verdict = mayOrder(await ledger.use(name, now), wanted, now);
  return verdict.allowed ? undefined : { reason: verdict.reason, nextAt: verdict.nextAt };
};

/** Who gets a certificate: a custom domain, or the own host of a project. */
interface Applicant<Order extends OrderSubject> {
  /** The order that is under way; undefined: none is. */
  readonly ordered: Order | undefined;
  /**
   * Takes a place in the budgets, so that a new order counts before the authority is asked for it.
   * @returns undefined when no order may begin now
   */
  readonly claim: () => Promise<Order | undefined>;
  /**
   * Stores the outcome and everything that depends on it in one step; an order that has ended is forgotten in the same
   * step.
   */
  readonly settle: (order: Order, outcome: SettledOutcome) => Promise<void>;
}

export type SettledOutcome = Exclude<OrderOutcome, { kind: 'unwanted' }>;

/**
 * Advances the certificate of a name as far as possible now. An order with a known URL is continued. Any other is
 * counted again before asking, since the authority may have created the first one.
 * @returns undefined when there is no order now
 * @throws Unavailable
 */
export const secureName = async <Order extends OrderSubject>(
  ports: OrderPorts,
  { ordered, claim, settle }: Applicant<Order>,
): Promise<OrderOutcome | undefined> => {
  const kept = ordered && (await ports.orders.find(ordered.subject));
  const order = kept?.url === undefined ? await claim() : ordered;
  if (!order) return undefined;
  const advance = advanceOrder(ports);
  const outcome = await advance(order).catch(async (error: unknown): Promise<OrderOutcome> => {
    if (await order.isWanted()) throw error;
    return { kind: 'unwanted' };
  });
  if (outcome.kind !== 'unwanted') await settle(order, outcome);
  return outcome;
};

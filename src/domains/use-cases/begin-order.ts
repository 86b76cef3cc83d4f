import type { OrderKind } from '../domain/certificates/ca-budget.ts';
import { isManual, isOrdered } from '../domain/certificates/standing.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { fenceOf } from '../domain/attachment/certificate.ts';
import { recordCheck } from '../domain/attachment/checks.ts';
import { claimOrder, heldUp, orderKind, orderUnanswered } from '../domain/attachment/order.ts';
import { dueWork } from '../domain/attachment/schedule.ts';
import type { DomainPorts } from '../ports.ts';
import { checkDomain, type CheckPorts } from './check-domain.ts';
import { findHold } from './secure-name.ts';

export type BeginPorts = CheckPorts & Pick<DomainPorts, 'certificates' | 'ledger' | 'timeline'>;

/**
 * Begins a new order for a domain. Checks its DNS and CAA first, which costs no request to the authority, then reserves
 * a place in the budgets and a generation in one step.
 * @param asked if it is marked as ordered, the answer to that order was lost
 * @returns the domain with the order; undefined when none may begin now
 */
export const beginOrder =
  (ports: BeginPorts) =>
  async (asked: CustomDomain): Promise<CustomDomain | undefined> => {
    const domain = isOrdered(asked) ? await giveUpOrder(ports, asked) : asked;
    const kind = await knownKind(ports, domain);
    // Before the DNS lookup: domains that wait for a budget come back often.
    if (!(await mayTryNow(ports, domain, kind))) return undefined;
    const checked = await checkDomain(ports)(domain, recordCheck);
    const now = ports.clock.now();
    if (isOrdered(checked) || dueWork(checked, now) !== 'certificate') return undefined;
    const fence = fenceOf(checked);
    const claim = await ports.domains.changeCounted(checked.id, now, (one, use) =>
      claimOrder(one, { fence, kind, use }, now),
    );
    return claim.verdict === 'begun' ? claim.state : undefined;
  };

/** The authority's answer was lost, and with it the order. */
const giveUpOrder = async (
  { domains, clock }: BeginPorts,
  domain: CustomDomain,
): Promise<CustomDomain> => {
  const [fence, now] = [fenceOf(domain), clock.now()];
  return (await domains.change(domain.id, (one) => orderUnanswered(one, fence, now))).state;
};

/** Domains that wait for a limit retry often, so the timeline gets an entry only when the limit changes. */
const mayTryNow = async (
  ports: BeginPorts,
  domain: CustomDomain,
  kind: OrderKind,
): Promise<boolean> => {
  const hold = await findHold(ports, domain, { isManual: isManual(domain), kind });
  if (!hold) return true;
  const [last] = await ports.timeline.list(domain.id, 1);
  const isTold = last?.kind === 'attempt' && last.details['budget'] === hold.reason;
  const now = ports.clock.now();
  await ports.domains.change(domain.id, (one) => {
    const change = heldUp(one, hold, now);
    return isTold ? { ...change, cause: undefined } : change;
  });
  return false;
};

/** A renewal is exempt only at authorities that support RFC 9773. */
const knownKind = async (
  { authority, certificates }: BeginPorts,
  domain: CustomDomain,
): Promise<OrderKind> => {
  const kind = orderKind(domain);
  const current = kind === 'renewal' ? await certificates.find(domain.host) : undefined;
  return current && (await authority.renewalWindow(current.chain)) ? 'exempt' : kind;
};

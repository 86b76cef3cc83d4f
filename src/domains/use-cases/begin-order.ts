import { mayOrder, type OrderKind } from '../domain/certificates/ca-budget.ts';
import { hasRenewalPlan, isManual, isOrdered } from '../domain/certificates/standing.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { fenceOf } from '../domain/attachment/certificate.ts';
import { recordCheck } from '../domain/attachment/checks.ts';
import { claimOrder, heldUp, orderUnanswered } from '../domain/attachment/order.ts';
import { dueWork } from '../domain/attachment/schedule.ts';
import type { DomainPorts } from '../ports.ts';
import { checkDomain, type CheckPorts } from './check-domain.ts';

export type BeginPorts = CheckPorts & Pick<DomainPorts, 'certificates' | 'ledger' | 'timeline'>;

/**
 * Begins a new order for a domain. Checks its DNS and CAA first, which costs no request to the authority, then reserves
 * a place in the budgets and a generation in one step.
 * @param domain if it is marked as ordered, the answer to that order was lost
 * @returns the domain with the order; undefined when none may begin now
 */
export const beginOrder = (ports: BeginPorts) => {
  const { domains, clock } = ports;
  const check = checkDomain(ports);
  const mayTry = mayTryNow(ports);
  const kindOf = orderKindOf(ports);
  return async (domain: CustomDomain): Promise<CustomDomain | undefined> => {
    if (isOrdered(domain)) {
      await domains.change(domain.id, (one) => orderUnanswered(one, fenceOf(domain), clock.now()));
    }
    const kind = await kindOf(domain);
    // Before the DNS lookup: domains that wait for a budget come back often.
    if (!(await mayTry(domain, kind))) return undefined;
    const checked = await check(domain, recordCheck);
    const now = clock.now();
    if (isOrdered(checked) || dueWork(checked, now) !== 'certificate') return undefined;
    const fence = fenceOf(checked);
    const claim = await domains.changeCounted(checked.id, now, (one, use) =>
      claimOrder(one, { fence, kind, use }, now),
    );
    return claim.verdict === 'begun' ? claim.state : undefined;
  };
};

/** Domains that wait for a limit retry often, so the timeline gets an entry only when the limit changes. */
const mayTryNow =
  ({ domains, ledger, timeline, clock }: BeginPorts) =>
  async (domain: CustomDomain, kind: OrderKind): Promise<boolean> => {
    const now = clock.now();
    const wanted = { isManual: isManual(domain), kind };
    const verdict = mayOrder(await ledger.use(domain, now), wanted, now);
    if (verdict.allowed) return true;
    const [last] = await timeline.list(domain.id, 1);
    const isTold = last?.kind === 'attempt' && last.details['budget'] === verdict.reason;
    await domains.change(domain.id, (one) => {
      const change = heldUp(one, verdict, now);
      return isTold ? { ...change, cause: undefined } : change;
    });
    return false;
  };

/** A renewal is exempt only at authorities that support RFC 9773. */
const orderKindOf =
  ({ authority, certificates }: BeginPorts) =>
  async (domain: CustomDomain): Promise<OrderKind> => {
    if (hasRenewalPlan(domain)) return 'exempt';
    const current = domain.state === 'live' ? await certificates.find(domain.host) : undefined;
    if (!current) return 'new';
    return (await authority.renewalWindow(current.chain)) === undefined ? 'renewal' : 'exempt';
  };

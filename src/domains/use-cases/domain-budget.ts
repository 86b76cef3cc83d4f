import { describeBudget, type BudgetView, type Hold } from '../domain/certificates/ca-budget.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { wantedAttempt } from '../domain/attachment/order.ts';
import { attemptAt } from '../domain/attachment/schedule.ts';
import type { DomainPorts } from '../ports.ts';

type Ports = Pick<DomainPorts, 'ledger' | 'clock'>;

/** How much of the authority's rate limits a domain has used, and which limit its next attempt waits for. */
export const domainBudget =
  ({ ledger, clock }: Ports) =>
  async (domain: CustomDomain): Promise<BudgetView> => {
    const now = clock.now();
    const use = await ledger.use(domain, now);
    return describeBudget(use, wantedAttempt(domain), attemptAt(domain), now);
  };

/** The limits that first certificates wait for, by domain id; domains that wait for none are left out. */
export const showHolds = (ports: Ports) => {
  const budgetOf = domainBudget(ports);
  return async (domains: readonly CustomDomain[]): Promise<ReadonlyMap<string, Hold>> => {
    const waiting = domains.filter(({ state }) => state === 'verified');
    const holds = waiting.map(async (domain) => {
      const { heldUpBy } = await budgetOf(domain);
      return heldUpBy ? [[domain.id, heldUpBy] as const] : [];
    });
    return new Map((await Promise.all(holds)).flat());
  };
};

import {
  describeBudget,
  type BudgetView,
  type Hold,
  type WantedAttempt,
} from '../domain/certificates/ca-budget.ts';
import { hasRenewalPlan, isManual, isOrdered } from '../domain/certificates/standing.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { attemptAt } from '../domain/attachment/schedule.ts';
import type { DomainPorts } from '../ports.ts';

type Ports = Pick<DomainPorts, 'ledger' | 'clock'>;

/** How much of the authority's rate limits a domain has used, and which limit its next attempt waits for. */
export const domainBudget =
  ({ ledger, clock }: Ports) =>
  async (domain: CustomDomain): Promise<BudgetView> => {
    const now = clock.now();
    const use = await ledger.use(domain, now);
    return describeBudget(use, wantedBy(domain), attemptAt(domain), now);
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

const wantedBy = (domain: CustomDomain): WantedAttempt => ({
  isManual: isManual(domain),
  kind: kindOf(domain),
});

const kindOf = (domain: CustomDomain): WantedAttempt['kind'] => {
  if (isOrdered(domain)) return 'counted';
  if (hasRenewalPlan(domain)) return 'exempt';
  return domain.state === 'live' ? 'renewal' : 'new';
};

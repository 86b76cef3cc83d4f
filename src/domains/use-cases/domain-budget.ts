import {
  describeBudget,
  type BudgetView,
  type Hold,
  type WantedAttempt,
} from '../domain/certificates/ca-budget.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import type { DomainPorts } from '../ports.ts';

type Ports = Pick<DomainPorts, 'ledger' | 'clock'>;

/** How much of the authority's rate limits a domain has used, and which limit its next attempt waits for. */
export const domainBudget =
  ({ ledger, clock }: Ports) =>
  async (domain: CustomDomain): Promise<BudgetView> => {
    const now = clock.now();
    const use = await ledger.use(domain, now);
    return describeBudget(use, wantedBy(domain), plannedAt(domain), now);
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

const wantedBy = ({ state, certificate }: CustomDomain): WantedAttempt => {
  const { isManual, isOrdered, askRenewalAt } = certificate;
  if (isOrdered) return { isManual, kind: 'counted' };
  if (askRenewalAt) return { isManual, kind: 'exempt' };
  return { isManual, kind: state === 'live' ? 'renewal' : 'new' };
};

const plannedAt = ({ certificate: { waitsForDns, nextAttemptAt } }: CustomDomain) =>
  waitsForDns ? undefined : nextAttemptAt;

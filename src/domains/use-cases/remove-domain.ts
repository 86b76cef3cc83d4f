import { removeDomain, type CustomDomain } from '../domain/attachment/custom-domain.ts';
import type { DomainPorts } from '../ports.ts';

/** From the moment that this returns, no edge of this process serves it; the others follow within a second. */
export const removeCustomDomain =
  ({ domains, clock }: Pick<DomainPorts, 'domains' | 'clock'>) =>
  async ({ id }: CustomDomain): Promise<CustomDomain> => {
    const { state } = await domains.change(id, (one) => removeDomain(one, 'owner', clock.now()));
    return state;
  };

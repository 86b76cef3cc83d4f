import type { CustomDomain } from '../domain/custom-domain.ts';
import { removeDomain } from '../domain/domain-removal.ts';
import type { DomainPorts } from '../domain-ports.ts';

/** From the moment that this returns, no edge of this process serves it; the others follow within a second. */
export const removeCustomDomain =
  ({ domains, clock }: Pick<DomainPorts, 'domains' | 'clock'>) =>
  async ({ id }: CustomDomain): Promise<CustomDomain> => {
    const { state } = await domains.change(id, (one) => removeDomain(one, 'owner', clock.now()));
    return state;
  };

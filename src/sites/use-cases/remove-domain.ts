import type { CustomDomain } from '../domain/custom-domain.ts';
import { removeDomain } from '../domain/domain-removal.ts';
import type { DomainPorts } from '../domain-ports.ts';
import { changeAndTell } from './change-and-tell.ts';

/** From the moment that this returns, no edge of this process serves it; the others follow within a second. */
export const removeCustomDomain = (ports: Pick<DomainPorts, 'domains' | 'timeline' | 'clock'>) => {
  const change = changeAndTell(ports);
  return ({ id }: CustomDomain): Promise<CustomDomain> =>
    change(id, (current) => removeDomain(current, 'owner', ports.clock.now()));
};

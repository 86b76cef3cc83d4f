import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { askToVerify, reverify, verify } from '../domain/attachment/verification.ts';
import { checkDomain, type CheckPorts } from './check-domain.ts';

/**
 * The Verify button: checks the domain's DNS now, or starts a new certificate attempt if earlier ones failed.
 * @throws DomainError `verify_too_early`, `reverify_too_early`, `domain_wrong_state`, `domain_not_found`
 */
export const verifyDomain = (ports: CheckPorts) => {
  const { domains, clock } = ports;
  const check = checkDomain(ports);
  return async ({ id }: CustomDomain): Promise<CustomDomain> => {
    // Decided under the lock: the domain's state may have changed since it was read.
    const { state: asked } = await domains.change(id, (current) =>
      (current.state === 'verified' ? reverify : askToVerify)(current, clock.now()),
    );
    return asked.state === 'verified' ? asked : check(asked, verify);
  };
};

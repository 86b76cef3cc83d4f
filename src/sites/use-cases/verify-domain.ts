import type { CustomDomain } from '../domain/custom-domain.ts';
import { askToVerify, reverify, verify } from '../domain/domain-verification.ts';
import { checkDomain, type CheckPorts } from './check-domain.ts';

/**
 * What the button does: looks at the DNS of a domain now, or starts a fresh attempt at a certificate that does not
 * come.
 * @throws DomainError `verify_too_early`, `reverify_too_early`, `domain_wrong_state`, `domain_not_found`
 */
export const verifyDomain = (ports: CheckPorts) => {
  const { domains, clock } = ports;
  const check = checkDomain(ports);
  return async ({ id }: CustomDomain): Promise<CustomDomain> => {
    // Which of both it is, is decided on the domain as it is now: it may have gone on since it was looked up.
    const { state: asked } = await domains.change(id, (current) =>
      (current.state === 'verified' ? reverify : askToVerify)(current, clock.now()),
    );
    return asked.state === 'verified' ? asked : check(asked, verify);
  };
};

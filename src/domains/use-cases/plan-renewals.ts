import { mayAskRenewal, planRenewal } from '../domain/certificates/plan.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { wishedRenewalTime } from '../domain/certificates/renewal.ts';
import type { DomainPorts } from '../ports.ts';

const page = 100;

type Ports = Pick<DomainPorts, 'domains' | 'certificates' | 'authority' | 'chance' | 'clock'>;

/**
 * For each live domain, asks the authority for its renewal window (RFC 9773), and again when the authority says to.
 * Does nothing when the authority offers no window.
 * @returns how many renewals it rescheduled
 */
export const planRenewals = (ports: Ports) => {
  const { domains, certificates, authority, chance, clock } = ports;

  const plan = async (domain: CustomDomain): Promise<boolean> => {
    if (domain.state !== 'live' || !mayAskRenewal(domain, clock.now())) return false;
    const certificate = await certificates.find(domain.host);
    if (!certificate) return false;
    const window = await authority.renewalWindow(certificate.chain);
    if (!window) return false;
    const at = wishedRenewalTime(domain.certificate, window, chance());
    await domains.change(domain.id, (current) => planRenewal(current, at, window.askAgainAt));
    return true;
  };

  return async (): Promise<number> => {
    let planned = 0;
    for (let after = ''; ;) {
      const live = await domains.live(after, page);
      for (const domain of live) if (await plan(domain)) planned += 1;
      const last = live.at(-1);
      if (!last || live.length < page) return planned;
      after = last.id;
    }
  };
};

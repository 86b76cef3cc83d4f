import { mayAskRenewal, planRenewal } from '../domain/attachment/plan.ts';
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
export const planRenewals = (ports: Ports) => async (): Promise<number> => {
  let planned = 0;
  for await (const domain of allLive(ports)) if (await planOne(ports, domain)) planned += 1;
  return planned;
};

const planOne = async (
  { domains, certificates, authority, chance, clock }: Ports,
  domain: CustomDomain,
): Promise<boolean> => {
  if (domain.state !== 'live' || !mayAskRenewal(domain, clock.now())) return false;
  const certificate = await certificates.find(domain.host);
  const window = certificate && (await authority.renewalWindow(certificate.chain));
  if (!window) return false;
  const at = wishedRenewalTime(domain.certificate, window, chance());
  await domains.change(domain.id, (current) => planRenewal(current, at, window.askAgainAt));
  return true;
};

async function* allLive({ domains }: Pick<Ports, 'domains'>): AsyncGenerator<CustomDomain> {
  for (let after = ''; ;) {
    const live = await domains.live(after, page);
    yield* live;
    const last = live.at(-1);
    if (!last || live.length < page) return;
    after = last.id;
  }
}

import { heldUp, type WorkChange } from '../domain/certificates/certificate-work.ts';
import { domainAfter, workOf } from '../domain/attachment/domain-certificate.ts';
import { recordCheck } from '../domain/attachment/checks.ts';
import { unchanged, type CustomDomain } from '../domain/attachment/custom-domain.ts';
import { dueWork, hasNews } from '../domain/attachment/due-work.ts';
import type { DomainPorts } from '../ports.ts';
import { checkDomain, type CheckPorts } from './check-domain.ts';
import { workOnCertificate, type Applicant, type CertificatePorts } from './work-on-certificate.ts';

export type TendPorts = CheckPorts & CertificatePorts & Pick<DomainPorts, 'timeline'>;

/** Does what is due for a domain; a domain that was just verified gets its certificate in the same run. */
export const tendDomain = (ports: TendPorts) => {
  const check = checkDomain(ports);
  const certify = certifyDomain(ports);
  const tend = async (found: CustomDomain): Promise<void> => {
    const domain = await told(ports, found);
    switch (dueWork(domain, ports.clock.now())) {
      case 'certificate':
        return certify(domain);
      case 'check': {
        const checked = await check(domain, recordCheck);
        if (dueWork(checked, ports.clock.now()) === 'certificate') await certify(checked);
        return;
      }
      case undefined:
    }
  };
  return tend;
};

/** See `workOnCertificate`. @throws Unavailable */
export const certifyDomain =
  (ports: TendPorts) =>
  async (domain: CustomDomain): Promise<void> => {
    const work = workOf(domain);
    if (work) await workOnCertificate(ports, applicantFor(ports, domain))(work);
  };

const applicantFor = (ports: TendPorts, domain: CustomDomain): Applicant => {
  const { domains, timeline, clock } = ports;
  const { id } = domain;
  const budgetTold = async () => (await timeline.newestAttempt(id))?.details['budget'];
  return {
    find: async () => {
      const current = await domains.get(id);
      return current && workOf(current);
    },
    change: async (command) => {
      const now = clock.now();
      const { state, outcome } = await domains.change(id, (one) =>
        changed(one, command(workOf(one)), now),
      );
      return { work: workOf(state), outcome };
    },
    changeCounted: async (authority, command) => {
      const [now, told] = [clock.now(), await budgetTold()];
      const { state, outcome } = await domains.changeCounted(id, { authority, now }, (one, use) =>
        toldOnce(changed(one, command(workOf(one), use), now), told),
      );
      return { work: workOf(state), outcome };
    },
    heldUp: async (hold) => {
      const [now, told] = [clock.now(), await budgetTold()];
      await domains.change(id, (one) => {
        const work = workOf(one);
        return work ? toldOnce(changed(one, heldUp(work, hold), now), told) : unchanged(one);
      });
    },
    // Checks its DNS and CAA, which costs no request to the authority.
    prepare: async () => {
      const checked = await checkDomain(ports)(domain, recordCheck);
      return dueWork(checked, clock.now()) === 'certificate' ? workOf(checked) : undefined;
    },
  };
};

const changed = (domain: CustomDomain, change: WorkChange, now: Date) => ({
  ...domainAfter(domain, change, now),
  outcome: change.outcome,
});

/** Domains that wait for a budget retry often, so the timeline gets an entry only when the budget changes. */
const toldOnce = (change: ReturnType<typeof changed>, told: unknown) =>
  change.outcome.kind === 'held_up' && change.outcome.hold.reason === told
    ? { ...change, cause: undefined }
    : change;

/** Tells its owner first, so that no work that fails holds it up. */
const told = async (
  { domains, clock }: Pick<TendPorts, 'domains' | 'clock'>,
  domain: CustomDomain,
): Promise<CustomDomain> => {
  if (!hasNews(domain, clock.now())) return domain;
  return (await domains.change(domain.id, unchanged)).state;
};

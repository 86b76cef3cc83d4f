import { unchanged, type CustomDomain } from '../domain/attachment/custom-domain.ts';
import { recordCheck } from '../domain/attachment/checks.ts';
import { dueWork, hasNews } from '../domain/attachment/schedule.ts';
import { withNews } from '../domain/attachment/trouble.ts';
import { checkDomain } from './check-domain.ts';
import { workOnCertificate, type WorkPorts } from './work-on-certificate.ts';

/** Does what is due for a domain; a domain that was just verified gets its certificate in the same run. */
export const tendDomain = (ports: WorkPorts) => {
  const check = checkDomain(ports);
  const work = workOnCertificate(ports);
  const tend = async (found: CustomDomain): Promise<void> => {
    const domain = await told(ports, found);
    switch (dueWork(domain, ports.clock.now())) {
      case 'certificate':
        return work(domain);
      case 'check': {
        const checked = await check(domain, recordCheck);
        if (dueWork(checked, ports.clock.now()) === 'certificate') await work(checked);
        return;
      }
      case undefined:
    }
  };
  return tend;
};

/** Tells its owner first, so that no work that fails holds it up. */
const told = async (
  { domains, clock }: Pick<WorkPorts, 'domains' | 'clock'>,
  domain: CustomDomain,
): Promise<CustomDomain> => {
  const now = clock.now();
  if (!hasNews(domain, now)) return domain;
  return (await domains.change(domain.id, (one) => withNews(unchanged(one), now))).state;
};

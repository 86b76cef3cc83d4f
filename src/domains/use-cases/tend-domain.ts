import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { recordCheck } from '../domain/attachment/checks.ts';
import { dueWork } from '../domain/attachment/schedule.ts';
import { checkDomain } from './check-domain.ts';
import { workOnCertificate, type WorkPorts } from './work-on-certificate.ts';

/** Does what is due for a domain; a domain that was just verified gets its certificate in the same run. */
export const tendDomain = (ports: WorkPorts) => {
  const check = checkDomain(ports);
  const work = workOnCertificate(ports);
  const tend = async (domain: CustomDomain): Promise<void> => {
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

import type { CustomDomainState } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { DomainsEvent } from '../../../src/domains/domain/domains-event.ts';
import type { Law } from './law.ts';

/** What must have been told of a domain in each state; what the audit log shows is never deleted. */
const told: Readonly<Record<CustomDomainState, readonly DomainsEvent['type'][]>> = {
  added: ['domain_added'],
  verified: ['domain_added', 'domain_verified'],
  live: ['domain_added', 'domain_verified', 'domain_live'],
  removed: ['domain_added', 'domain_removed'],
};

const untold = `
  select host from domains d where state = ? and not exists (
    select 1 from events where type = ? and details ->> '$.domainId' = d.id)`;

export const statesAreTold: Law = {
  name: 'Each state of a domain has its event',
  eachHour: ({ stored }) => {
    for (const [state, types] of Object.entries(told)) {
      for (const type of types) {
        const [first] = stored.rows<{ readonly host: string }>(untold, state, type);
        if (first) return { ...first, state, 'without event': type };
      }
    }
    return undefined;
  },
};

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
  with told as (select details ->> '$.domainId' as id from events where type = ?)
  select host from domains where state = ?
    and id not in (select id from told where id is not null) limit 1`;

export const statesAreTold: Law = {
  name: 'Each state of a domain has its event',
  eachHour: ({ stored }) => {
    for (const [state, types] of Object.entries(told)) {
      for (const type of types) {
        const first = stored.first<{ readonly host: string }>(untold, type, state);
        if (first) return { ...first, state, 'without event': type };
      }
    }
    return undefined;
  },
};

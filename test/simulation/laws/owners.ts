import type { Law, Facts, Seen } from './law.ts';
import type { Acknowledged } from '../owners.ts';
import type { CustomDomainState } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { DomainsEvent } from '../../../src/domains/domain/domains-event.ts';

export const ownersAreAnswered: Law = {
  name: 'Each request of an owner is done, refused with a reason, or not answered',
  eachHour: ({ owners }) => owners.faults[0],
};

/** Checks each write soon after it was acknowledged, and all writes again at the end. */
export const writesStay = (): Law => {
  let asked = 0;
  return {
    name: 'Every acknowledged write is stored',
    eachHour: (seen) => {
      const { acknowledged } = seen.owners;
      const newOnes = acknowledged.slice(asked);
      asked = acknowledged.length;
      return firstLost(newOnes, seen);
    },
    atTheEnd: (seen) => firstLost(seen.owners.acknowledged, seen),
  };
};

const firstLost = (writes: readonly Acknowledged[], seen: Seen): Facts | undefined => {
  const lost = writes.find((write) => !isThere(write, seen));
  return lost && { what: lost.kind, id: String(lost.id) };
};

/** Nothing here is deleted, except with its project or account. */
const isThere = (write: Acknowledged, { stored, owners }: Seen): boolean => {
  if (write.kind === 'removal')
    return !stored.has(`select 1 from domains where id = ? and state <> 'removed'`, write.id);
  const { accountId = '', project } = owners.shops.get(write.shop) ?? {};
  if (!stored.has('select 1 from accounts where id = ?', accountId)) return true;
  switch (write.kind) {
    case 'domain':
      return (
        stored.has('select 1 from domains where id = ? and host = ?', write.id, write.host) ||
        !stored.has('select 1 from projects where id = ?', project?.id ?? '')
      );
    case 'deletion':
      return stored.has(
        `select 1 from events where account_id = ? and (type = 'account_deleted' and account_id = ?
          or type = 'project_deleted' and details ->> '$.projectId' = ?)`,
        ...[accountId, write.id, write.id],
      );
    case 'pet': {
      // The cast is needed because a JavaScript number cannot hold every id.
      const pet = 'select 1 from pets where id = cast(? as integer) and account_id = ?';
      return stored.has(pet, String(write.id), accountId);
    }
  }
};

/** The events that a domain in each state must have. Events in the audit log are never deleted. */
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

const faults =
  /TypeError|RangeError|ReferenceError|SyntaxError|constraint|corrupt|is not a function|undefined \(reading|is not one of|parked/i;

export const noFaultIsLogged: Law = {
  name: 'Every failure is explained by the weather',
  onLog: (process, line) => (faults.test(line) ? { process, line } : undefined),
};

import {
  wildcardOver,
  baseOf,
  isWildcard,
  namesFor,
} from '../../../src/domains/domain/names/hostname.ts';
import { type Facts, type Law, type Seen, inText } from './law.ts';
import { RouteTableKey } from '../../../src/app/keys.ts';
import { secondMs } from '../world/durations.ts';

interface Holder {
  readonly id: string;
  readonly account_id: string;
  readonly host: string;
  readonly state: string;
  readonly isProven: number;
}

/** Omits the details of verified and live domains, because reading them takes time. */
const holders = `
  select id, account_id, host, state,
    case when state = 'added' then details ->> '$.certificate.kind' <> 'none'
      and coalesce(details ->> '$.dns.report.validation.delegated', 0) = 1 else 1 end as isProven
  from domains where state <> 'removed'`;

const isBeyondDoubt = `select 1 from domains where id = ? and details ->> '$.dns.report.ownershipProven' = 1`;

const isHolder = ({ state }: Pick<Holder, 'state'>): boolean =>
  state === 'verified' || state === 'live';

export const oneHolder: Law = {
  name: 'A name has one holder',
  tables: ['domains'],
  afterCommit: ({ stored }) => {
    const held = new Map<string, Holder>();
    for (const holder of stored.rows<Holder>(holders).filter(isHolder)) {
      const other = held.get(holder.host);
      if (other) return { host: holder.host, one: other.id, other: holder.id };
      held.set(holder.host, holder);
    }
    return undefined;
  },
};

/** A law about a change needs the previous state. */
export const provenRivals = (): Law => {
  let before = new Map<string, Holder>();
  return {
    name: 'A name that another account has proven is taken only with the record that proves it',
    tables: ['domains'],
    afterCommit: ({ stored }: Seen): Facts | undefined => {
      const now = new Map(stored.rows<Holder>(holders).map((one) => [one.id, one]));
      const was = before;
      before = now;
      for (const holder of now.values()) {
        const isNew = isHolder(holder) && !isHolder(was.get(holder.id) ?? { state: 'added' });
        if (!isNew || stored.has(isBeyondDoubt, holder.id)) continue;
        const rival = [...was.values()].find((one) => isRival(one, holder));
        if (rival)
          return { host: holder.host, taker: holder.id, holder: rival.id, its: rival.host };
      }
      return undefined;
    },
  };
};

/** An exact name in any account, or a wildcard over it in another account. */
const isRival = (one: Holder, { id, host, account_id: account }: Holder): boolean => {
  if (one.id === id || one.isProven !== 1) return false;
  return one.host === host || (one.host === wildcardOver(host) && one.account_id !== account);
};

interface Removed {
  readonly id: string;
  readonly host: string;
  readonly project_id: string;
}

/** Signals are at most a second late here, even while they are lost. */
const graceMs = 2 * secondMs;

/** Looks for names in the memory of edges soon after the commit that removed them. */
export const removedIsGone = (): Law => {
  const known = new Set<string>();
  const pending: { readonly domain: Removed; readonly at: number }[] = [];
  return {
    name: 'Nothing is served two seconds after its removal',
    tables: ['domains'],
    afterCommit: ({ stored, time }: Seen) => {
      const removed = `select id, host, project_id from domains where state = 'removed'`;
      for (const domain of stored.rows<Removed>(removed)) {
        if (known.has(domain.id)) continue;
        known.add(domain.id);
        pending.push({ domain, at: time.now });
      }
      return undefined;
    },
    afterStep: (seen: Seen) => {
      const [first] = pending;
      if (!first || seen.time.now < first.at + graceMs) return undefined;
      pending.shift();
      return servedStill(first.domain, first.at, seen);
    },
  };
};

const servedStill = (
  { host, project_id: project }: Removed,
  at: number,
  { fleet, past, stored }: Seen,
): Facts | undefined => {
  const edge = fleet.get('edge');
  const since = past.upSince('edge');
  if (!edge || since === undefined || since > at) return undefined;
  const visited = isWildcard(host) ? `some.${baseOf(host)}` : host;
  const route = edge.container.get(RouteTableKey).find(visited);
  if (route?.projectId !== project) return undefined;
  const names = [...namesFor(visited), host];
  const others = `select 1 from domains where project_id = ? and state <> 'removed' and host in (?, ?, ?)`;
  if (stored.has(others, project, host, names[0] ?? '', names[1] ?? '')) return undefined;
  return { host, project, 'removed at': inText(at), route: route.name };
};

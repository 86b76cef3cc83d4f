import { wildcardOver } from '../../../src/domains/domain/names/hostname.ts';
import type { Facts, Law, Seen } from './law.ts';

interface Holder {
  readonly id: string;
  readonly account_id: string;
  readonly host: string;
  readonly state: string;
  readonly isProven: number;
}

/** The details of those that are verified or live are not read, because that takes time. */
const holders = `
  select id, account_id, host, state,
    case when state = 'added' then details ->> '$.certificate.kind' <> 'none'
      and coalesce(details ->> '$.dns.report.validation.delegated', 0) = 1 else 1 end as isProven
  from domains where state <> 'removed'`;

/** Whether the last check saw the record that proves the name. */
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

/** A law about a change needs to know what was there before. */
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

/** An exact name in any account, or the wildcard over it in another one. */
const isRival = (one: Holder, { id, host, account_id: account }: Holder): boolean => {
  if (one.id === id || one.isProven !== 1) return false;
  return one.host === host || (one.host === wildcardOver(host) && one.account_id !== account);
};

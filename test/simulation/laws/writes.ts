import type { Acknowledged } from '../owners.ts';
import type { Facts, Law, Seen } from './law.ts';

/** Each write is looked up soon after it, and all of them once more at the end. */
export const writesStay = (): Law => {
  let asked = 0;
  return {
    name: 'Every write that was acknowledged is there',
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

/** None of them is ever deleted. */
const isThere = (write: Acknowledged, { stored, owners }: Seen): boolean => {
  switch (write.kind) {
    case 'domain':
      return stored.has('select 1 from domains where id = ? and host = ?', write.id, write.host);
    case 'removal':
      return stored.has(`select 1 from domains where id = ? and state = 'removed'`, write.id);
    case 'pet': {
      const account = owners.shops.get(write.shop)?.accountId ?? '';
      // A number of JavaScript does not hold every id.
      const pet = 'select 1 from pets where id = cast(? as integer) and account_id = ?';
      return stored.has(pet, String(write.id), account);
    }
  }
};

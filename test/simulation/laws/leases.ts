import { inText, type Facts, type Law, type Seen } from './law.ts';

interface Claimed {
  readonly table: string;
  readonly id: string;
  readonly claim: string | null;
  readonly until: number | null;
}

type Held = Claimed & { readonly holder: string };

/** Where a lease ends; without a column of its own, the row is due then. */
const tables = { domains: 'claimed_until', deliveries: 'due_at', mails: 'due_at' } as const;

const claimed = Object.entries(tables)
  .map(([table, end]) => {
    const id = table === 'mails' ? 'message' : 'id';
    return `select '${table}' as "table", ${id} as id, claim, ${end} as until from ${table} where claim > ''`;
  })
  .join(' union all ');

/**
 * A worker that was late may believe that it still holds something. Clocks differ, so a lease ends once one of the workers
 * believes so.
 */
export const leasesHold = (): Law => {
  let before = new Map<string, Held>();
  return {
    name: 'What a process has claimed is left to it until its lease ends',
    tables: [
      ...(['domains', 'deliveries', 'mails'] as const),
      ...(['claims of domains', 'claims of deliveries', 'claims of mails'] as const),
    ],
    afterCommit: (seen: Seen): Facts | undefined => {
      const [was, now] = [before, new Map<string, Held>()];
      const actor = seen.time.actor?.name ?? '';
      for (const row of seen.stored.rows<Claimed>(claimed)) {
        const key = `${row.table} ${row.id}`;
        const known = was.get(key);
        now.set(key, { ...row, holder: known?.claim === row.claim ? known.holder : actor });
      }
      before = now;
      const latest = seen.time.now + aheadMs(seen);
      for (const [key, held] of was) {
        if (held.holder === actor || now.get(key)?.claim === held.claim) continue;
        if (held.until === null || held.until <= latest || isGone(held, seen)) continue;
        return { what: key, by: actor, holder: held.holder, 'lease until': inText(held.until) };
      }
      return undefined;
    },
  };
};

const aheadMs = ({ fleet }: Seen): number =>
  Math.max(0, ...[...fleet.values()].map(({ actor }) => actor.clockAheadMs));

/** Whoever is done with something deletes it; work on what is removed has ended. */
const isGone = ({ table, id }: Held, { stored }: Seen): boolean => {
  if (table === 'domains')
    return stored.has(`select 1 from domains where id = ? and state = 'removed'`, id);
  if (table === 'mails')
    return stored.has('select 1 from mails where message = ? and ended_at is not null', id);
  return !stored.has('select 1 from deliveries where id = ?', id);
};

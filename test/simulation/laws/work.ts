import { workerNames } from '../fleet.ts';
import { inText, toleratedSkewMs, type Facts, type Law, type Seen } from './law.ts';
import { dayMs, hourMs } from '../world/durations.ts';

interface Due {
  readonly host: string;
  readonly state: string;
  readonly due_at: number | null;
}

/** Longer than the schedule of checks and the wait for a budget. */
const longestWaitMs = 31 * dayMs;

const stepless = `
  select host, state, due_at from domains
  where (state <> 'removed' and (due_at is null or due_at > ?)
      and coalesce(details ->> '$.pause', '') <> 'deleted')
    or (state = 'removed' and due_at is not null) limit 1`;

export const nextSteps: Law = {
  name: 'Each domain that is not removed has a next step in finite time, and a removed one has none',
  tables: ['domains'],
  afterCommit: ({ stored, time }) => {
    const latest = Math.floor(time.now) + longestWaitMs + toleratedSkewMs;
    const row = stored.first<Due>(stepless, latest);
    return row && { host: row.host, state: row.state, 'next step': inText(row.due_at) };
  },
};

/** Jobs sleep this long in a simulation. A dead process keeps its claims for less. */
const longestSleepMs = 6 * hourMs;

const overdue = `
  select host, state, due_at, claimed_until from domains
  where state <> 'removed' and max(due_at, coalesce(claimed_until, 0)) < ? order by due_at limit 1`;

/** Checked only while the same worker has been up with a right clock. */
export const stepsAreTaken: Law = {
  name: 'All work on a domain is done once it is due',
  eachHour: ({ stored, time, fleet, past }): Facts | undefined => {
    const latest = time.now - longestSleepMs - hourMs;
    const isWorking = workerNames.some((name) => {
      const since = past.upSince(name);
      const skew = fleet.get(name)?.actor.clockAheadMs ?? 0;
      return since !== undefined && since < latest && Math.abs(skew) <= toleratedSkewMs;
    });
    if (!isWorking) return undefined;
    const row = stored.first<Due>(overdue, Math.floor(latest));
    return row && { host: row.host, state: row.state, due: inText(row.due_at) };
  },
};

interface Claimed {
  readonly table: string;
  readonly id: string;
  readonly claim: string | null;
  readonly until: number | null;
}

type Held = Claimed & { readonly holder: string };

/** The column where a lease ends. Without a separate column, the row is due at the end of its lease. */
const tables = { domains: 'claimed_until', deliveries: 'due_at', mails: 'due_at' } as const;

const claimed = Object.entries(tables)
  .map(([table, end]) => {
    const id = table === 'mails' ? 'message' : 'id';
    return `select '${table}' as "table", ${id} as id, claim, ${end} as until from ${table} where claim > ''`;
  })
  .join(' union all ');

/**
 * A late worker may believe that it still holds something. Clocks differ, so a lease ends as soon as one worker
 * believes so.
 */
export const leasesHold = (): Law => {
  let before = new Map<string, Held>();
  return {
    name: 'Nobody takes what a process has claimed until its lease ends',
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

/** A worker deletes what it has finished. Nothing is due on a removed domain, or while its project is deleted. */
const isGone = ({ table, id }: Held, { stored }: Seen): boolean => {
  if (table === 'domains')
    return stored.has('select 1 from domains where id = ? and due_at is null', id);
  if (table === 'mails')
    return stored.has('select 1 from mails where message = ? and ended_at is not null', id);
  return !stored.has('select 1 from deliveries where id = ?', id);
};

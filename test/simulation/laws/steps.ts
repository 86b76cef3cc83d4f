import { workerNames } from '../fleet.ts';
import { inText, toleratedSkewMs, type Facts, type Law } from './law.ts';
import { dayMs, hourMs } from '../world/durations.ts';

interface Due {
  readonly host: string;
  readonly state: string;
  readonly due_at: number | null;
}

/** The schedule of checks, and the wait for a budget, are both shorter. */
const longestWaitMs = 31 * dayMs;

const stepless = `
  select host, state, due_at from domains
  where (state <> 'removed' and (due_at is null or due_at > ?))
    or (state = 'removed' and due_at is not null) limit 1`;

export const nextSteps: Law = {
  name: 'Each domain that is not removed has a next step in finite time, and no other one has any',
  tables: ['domains'],
  afterCommit: ({ stored, time }) => {
    const latest = Math.floor(time.now) + longestWaitMs + toleratedSkewMs;
    const row = stored.first<Due>(stepless, latest);
    return row && { host: row.host, state: row.state, 'next step': inText(row.due_at) };
  },
};

/** Jobs sleep this long in a simulation, and a dead process keeps what it has claimed for less. */
const longestSleepMs = 6 * hourMs;

const overdue = `
  select host, state, due_at, claimed_until from domains
  where state <> 'removed' and max(due_at, coalesce(claimed_until, 0)) < ? order by due_at limit 1`;

/** Asked only while the same worker has been up, with a right clock. */
export const stepsAreTaken: Law = {
  name: 'Whatever a domain has to do is done once it is due',
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

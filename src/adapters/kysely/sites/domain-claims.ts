import { sql, type ExpressionBuilder } from 'kysely';
import type { DomainClaim, HeldDomain } from '../../../domains/custom-domain-ports.ts';
import { customDomainFrom } from './custom-domain-rows.ts';
import type { Database, Queries } from '../database.ts';
import { toMillis, type Schema } from '../schema.ts';

export interface WantedClaim {
  /** Unique for ever. */
  readonly claim: string;
  readonly now: Date;
  readonly leaseUntil: Date;
  readonly limit: number;
}

/** Claims due domains for one process: see `CustomDomains.claimDue`. */
export const claimDue = async (
  database: Database,
  { claim, now, leaseUntil, limit }: WantedClaim,
): Promise<DomainClaim> => {
  const due = await database.db
    .selectFrom('domains')
    .select('id')
    .where('due_at', '<=', toMillis(now))
    .where(isFree(now))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  if (due.length === 0) return { claim, domains: [] };
  const ids = due.map((row) => row.id);
  // Checks again that the row is due and free, so that the loser of a race changes nothing.
  await database.transaction((db) =>
    db
      .updateTable('domains')
      .set({ claim, claimed_until: toMillis(leaseUntil) })
      .where('id', 'in', ids)
      .where('due_at', '<=', toMillis(now))
      .where(isFree(now))
      .execute(),
  );
  const rows = await database.db
    .selectFrom('domains')
    .selectAll()
    .where('claim', '=', claim)
    .orderBy('due_at')
    .orderBy('id')
    .execute();
  return { claim, domains: rows.map(customDomainFrom) };
};

/** See `CustomDomains.nextDueAt`. Those that are claimed are few. */
export const nextDomainDueAt = async (db: Queries): Promise<Date | undefined> => {
  const claimed = await db
    .selectFrom('domains')
    .select(['id', 'due_at', 'claimed_until'])
    .where('claim', '>', sql.lit(''))
    .execute();
  // It needs nothing but the index.
  const free = await db
    .selectFrom('domains')
    .select('due_at')
    .where('due_at', '>=', 0n)
    .where('id', 'not in', ['', ...claimed.map(({ id }) => id)])
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
  const times = claimed.flatMap(({ due_at, claimed_until }) =>
    due_at === null ? [] : [Math.max(Number(due_at), Number(claimed_until))],
  );
  if (free) times.push(Number(free.due_at));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
};

export const prolong = async (
  db: Queries,
  held: readonly HeldDomain[],
  leaseUntil: Date,
): Promise<void> => {
  if (held.length === 0) return;
  const claims = new Set(held.map(({ claim }) => claim));
  await db
    .updateTable('domains')
    .set({ claimed_until: toMillis(leaseUntil) })
    .where(
      'id',
      'in',
      held.map(({ id }) => id),
    )
    .where('claim', 'in', [...claims])
    .execute();
};

export const release = async (db: Queries, { id, claim }: HeldDomain): Promise<void> => {
  await db
    .updateTable('domains')
    .set({ claim: null, claimed_until: null })
    .where('id', '=', id)
    .where('claim', '=', claim)
    .execute();
};

const isFree = (now: Date) => (eb: ExpressionBuilder<Schema, 'domains'>) =>
  eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', toMillis(now))]);

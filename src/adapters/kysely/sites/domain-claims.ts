import type { ExpressionBuilder } from 'kysely';
import type { DomainClaim } from '../../../domains/ports.ts';
import { customDomainFrom } from './custom-domain-rows.ts';
import type { Database } from '../database.ts';
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

const isFree = (now: Date) => (eb: ExpressionBuilder<Schema, 'domains'>) =>
  eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', toMillis(now))]);

import type { ExpressionBuilder } from 'kysely';
import type { CustomDomain } from '../../sites/domain/custom-domain.ts';
import { customDomainFrom } from './custom-domain-rows.ts';
import type { Database } from './database.ts';
import { toMillis, type Schema } from './schema.ts';

export interface DomainClaim {
  /** Unique for ever. */
  readonly id: string;
  readonly now: Date;
  readonly leaseUntil: Date;
  readonly limit: number;
}

/** Takes what is due for one process: see `CustomDomains.claimDue`. */
export const claimDue = async (
  database: Database,
  { id: claim, now, leaseUntil, limit }: DomainClaim,
): Promise<readonly CustomDomain[]> => {
  const due = await database.run((db) =>
    db
      .selectFrom('domains')
      .select('id')
      .where('due_at', '<=', toMillis(now))
      .where(isFree(now))
      .orderBy('due_at')
      .orderBy('id')
      .limit(limit)
      .execute(),
  );
  if (due.length === 0) return [];
  const ids = due.map((row) => row.id);
  // Asks again what is due and free: who lost the race for a row changes nothing.
  await database.transaction((db) =>
    db
      .updateTable('domains')
      .set({ claim, claimed_until: toMillis(leaseUntil) })
      .where('id', 'in', ids)
      .where('due_at', '<=', toMillis(now))
      .where(isFree(now))
      .execute(),
  );
  const rows = await database.run((db) =>
    db
      .selectFrom('domains')
      .selectAll()
      .where('claim', '=', claim)
      .orderBy('due_at')
      .orderBy('id')
      .execute(),
  );
  return rows.map(customDomainFrom);
};

const isFree = (now: Date) => (eb: ExpressionBuilder<Schema, 'domains'>) =>
  eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', toMillis(now))]);

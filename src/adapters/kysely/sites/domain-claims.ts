import { sql, type ExpressionBuilder } from 'kysely';
import type { DomainClaim, HeldDomain } from '../../../domains/custom-domain-ports.ts';
import { customDomainFrom, type CustomDomainRow } from './custom-domain-rows.ts';
import { toMillis, type Schema } from '../schema.ts';
import { Store } from '../store.ts';

export interface WantedClaim {
  /** Unique for ever. */
  readonly claim: string;
  readonly now: Date;
  readonly leaseUntil: Date;
  readonly limit: number;
}

type DueTimes = Pick<CustomDomainRow, 'id' | 'due_at' | 'claimed_until'>;

/** Which process works on which due domain: see `CustomDomains`. */
export class DomainClaims extends Store {
  readonly #dueIds = this.database.prepare<{ now: bigint; limit: number }, { id: string }>(
    (db, the) =>
      db
        .selectFrom('domains')
        .select('id')
        .where('due_at', '<=', the('now'))
        .where(isFree(the('now')))
        .orderBy('due_at')
        .orderBy('id')
        .limit(the('limit')),
  );

  readonly #claimed = this.database.prepare<{ claim: string }, CustomDomainRow>((db, the) =>
    db
      .selectFrom('domains')
      .selectAll()
      .where('claim', '=', the('claim'))
      .orderBy('due_at')
      .orderBy('id'),
  );

  /** It reads nothing but the index. */
  readonly #firstDue = this.database.prepare<
    { limit: number },
    Pick<CustomDomainRow, 'id' | 'due_at'>
  >((db, the) =>
    db
      .selectFrom('domains')
      .select(['id', 'due_at'])
      .where('due_at', '>=', 0n)
      .orderBy('due_at')
      .orderBy('id')
      .limit(the('limit')),
  );

  readonly #allClaimed = this.database.prepare<Record<string, never>, DueTimes>((db) =>
    db
      .selectFrom('domains')
      .select(['id', 'due_at', 'claimed_until'])
      .where('claim', '>', sql.lit('')),
  );

  readonly #release = this.database.prepareWrite<Pick<HeldDomain, 'id' | 'claim'>>((db, the) =>
    db
      .updateTable('domains')
      .set({ claim: null, claimed_until: null })
      .where('id', '=', the('id'))
      .where('claim', '=', the('claim')),
  );

  async claimDue({ claim, now, leaseUntil, limit }: WantedClaim): Promise<DomainClaim> {
    const due = await this.#dueIds({ now: toMillis(now), limit });
    if (due.length === 0) return { claim, domains: [] };
    const ids = due.map((row) => row.id);
    // Checks again that the row is due and free, so that the loser of a race changes nothing.
    await this.database.transaction((db) =>
      db
        .updateTable('domains')
        .set({ claim, claimed_until: toMillis(leaseUntil) })
        .where('id', 'in', ids)
        .where('due_at', '<=', toMillis(now))
        .where(isFree(toMillis(now)))
        .execute(),
    );
    const rows = await this.#claimed({ claim });
    return { claim, domains: rows.map(customDomainFrom) };
  }

  /** Those that are claimed are few. */
  async nextDueAt(): Promise<Date | undefined> {
    const claimed = await this.#allClaimed({});
    const first = await this.#firstDue({ limit: claimed.length + 1 });
    const free = first.find(({ id }) => !claimed.some((one) => one.id === id));
    const times = claimed.flatMap(({ due_at, claimed_until }) =>
      due_at === null ? [] : [Math.max(Number(due_at), Number(claimed_until))],
    );
    if (free) times.push(Number(free.due_at));
    return times.length === 0 ? undefined : new Date(Math.min(...times));
  }

  async prolong(held: readonly HeldDomain[], leaseUntil: Date): Promise<void> {
    if (held.length === 0) return;
    const claims = new Set(held.map(({ claim }) => claim));
    await this.db
      .updateTable('domains')
      .set({ claimed_until: toMillis(leaseUntil) })
      .where(
        'id',
        'in',
        held.map(({ id }) => id),
      )
      .where('claim', 'in', [...claims])
      .execute();
  }

  async release({ id, claim }: HeldDomain): Promise<void> {
    await this.#release({ id, claim });
  }
}

const isFree = (now: bigint) => (eb: ExpressionBuilder<Schema, 'domains'>) =>
  eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]);

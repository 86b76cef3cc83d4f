import type { Kysely } from 'kysely';
import {
  caBudgets,
  type BudgetName,
  type BudgetVerdict,
  type CaUse,
  type WindowUse,
} from '../../sites/domain/ca-budget.ts';
import { AuthorityLedger, type LedgerEntry } from '../../sites/domain-ports.ts';
import type { Database } from './database.ts';
import { fromMillisOrNull, toMillis, type Schema } from './schema.ts';

type Name = Pick<LedgerEntry, 'host' | 'registrableDomain'>;

export class KyselyAuthorityLedger extends AuthorityLedger {
  readonly #database: Database;

  constructor(database: Database) {
    super();
    this.#database = database;
  }

  use(name: Name, now: Date): Promise<CaUse> {
    return this.#database.run((db) => useOf(db, name, now));
  }

  reserve(entry: LedgerEntry, decide: (use: CaUse) => BudgetVerdict): Promise<BudgetVerdict> {
    return this.#database.transaction(async (db) => {
      await db
        .updateTable('authority_turn')
        .set(({ eb }) => ({ turn: eb('turn', '+', 1n) }))
        .execute();
      const verdict = decide(await useOf(db, entry, entry.occurredAt));
      if (verdict.allowed) await insert(db, entry);
      return verdict;
    });
  }

  async record(entry: LedgerEntry): Promise<void> {
    await this.#database.run((db) => insert(db, entry));
  }

  async sweep(before: Date): Promise<number> {
    const { numDeletedRows } = await this.#database.run((db) =>
      db
        .deleteFrom('authority_ledger')
        .where('occurred_at', '<', toMillis(before))
        .executeTakeFirst(),
    );
    return Number(numDeletedRows);
  }
}

const insert = async (
  db: Kysely<Schema>,
  { kind, host, registrableDomain, isManual, occurredAt }: LedgerEntry,
): Promise<void> => {
  await db
    .insertInto('authority_ledger')
    .values({
      kind,
      host,
      registrable_domain: registrableDomain,
      is_manual: isManual ? 1n : 0n,
      occurred_at: toMillis(occurredAt),
    })
    .execute();
};

const useOf = async (
  db: Kysely<Schema>,
  { host, registrableDomain }: Name,
  now: Date,
): Promise<CaUse> => {
  const within = async (name: BudgetName, what: Partial<LedgerFilter>): Promise<WindowUse> => {
    const since = now.getTime() - caBudgets[name].windowMs;
    let query = db
      .selectFrom('authority_ledger')
      .select(({ fn }) => [
        fn.countAll<bigint>().as('used'),
        fn.min<bigint | null>('occurred_at').as('oldest'),
      ])
      .where('occurred_at', '>', BigInt(since));
    for (const [column, value] of Object.entries(what)) {
      query = query.where(column as keyof LedgerFilter, '=', value);
    }
    const { used, oldest } = await query.executeTakeFirstOrThrow();
    return { used: Number(used), oldestAt: fromMillisOrNull(oldest) };
  };
  return {
    automaticFailures: await within('automaticFailures', { kind: 'failure', host, is_manual: 0n }),
    manualFailures: await within('manualFailures', { kind: 'failure', host, is_manual: 1n }),
    orders: await within('orders', { kind: 'order' }),
    registeredDomain: await within('registeredDomain', {
      kind: 'issued',
      registrable_domain: registrableDomain,
    }),
    exactName: await within('exactName', { kind: 'issued', host }),
  };
};

type LedgerFilter = Pick<
  Schema['authority_ledger'],
  'kind' | 'host' | 'registrable_domain' | 'is_manual'
>;

import type { Ids } from '../../../kernel/ids.ts';
import type { Held, Most } from '../../../kernel/queue.ts';
import type { DueDomain, DueDomains } from '../../../domains/ports.ts';
import type { Database } from '../database.ts';
import { QueueRows } from '../queue.ts';
import { Store } from '../store.ts';
import { customDomainFrom, type CustomDomainRow } from './custom-domain-rows.ts';

export class KyselyDueDomains extends Store implements DueDomains {
  readonly #queue: QueueRows;

  readonly #claimed = this.database.prepare<{ claim: string }, CustomDomainRow>((db, the) =>
    db
      .selectFrom('domains')
      .selectAll()
      .where('claim', '=', the('claim'))
      .orderBy('due_at')
      .orderBy('id'),
  );

  constructor(database: Database, ids: Ids) {
    super(database);
    this.#queue = new QueueRows(database, ids, {
      ...{ table: 'domains', key: 'id', due: 'due_at', leaseEnd: 'claimed_until' },
      order: ['due_at', 'id'],
    });
  }

  async claim(now: Date, leaseUntil: Date, { limit }: Most): Promise<readonly DueDomain[]> {
    const claim = await this.#queue.take(now, leaseUntil, limit);
    if (claim === undefined) return [];
    const domains = (await this.#claimed({ claim })).map(customDomainFrom);
    return domains.map((domain) => ({ id: domain.id, claim, domain }));
  }

  nextDueAt(): Promise<Date | undefined> {
    return this.#queue.nextDueAt();
  }

  prolong(held: readonly Held[], leaseUntil: Date): Promise<void> {
    return this.#queue.prolong(held, leaseUntil);
  }

  done(held: readonly Held[]): Promise<void> {
    return this.#queue.release(held);
  }
}

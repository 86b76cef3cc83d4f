import type { Clock } from '../../../kernel/clock.ts';
import type { Sealer } from '../../../kernel/sealer.ts';
import type { DomainChange } from '../../../domains/domain/attachment/change.ts';
import { domainTaken, provesName } from '../../../domains/domain/attachment/contested-name.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isCertified } from '../../../domains/domain/attachment/plan.ts';
import { isAttached } from '../../../domains/domain/attachment/serving.ts';
import { timelineOf } from '../../../domains/domain/attachment/timeline.ts';
import { domainNotFound } from '../../../domains/domain/domains-error.ts';
import type { Database } from '../database.ts';
import { refusedAs } from '../engine/failure.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { AggregateStore } from '../aggregate-store.ts';
import { customDomainFrom, customDomainRow, type WrittenDomainRow } from './custom-domain-rows.ts';
import { lockProjectsOf, losesName, serveMoves } from './domain-moves.ts';
import { writeLedger } from './kysely-authority-ledger.ts';
import { forgetOrder, forgetOrdersOf } from './kysely-certificate-orders.ts';
import { storeCertificate } from './kysely-certificates.ts';
import { forgetSharesOf } from './kysely-domain-shares.ts';
import { entryWriter } from './kysely-timeline.ts';
import { projectsBelow } from './names-below.ts';
import { alignRoutes } from './project-routes.ts';
import { tellRivals } from './rivals.ts';

interface Needs {
  readonly sealer: Sealer;
  /** Says since when something is no longer served. */
  readonly clock: Clock;
}

/** Stores a change of a domain with everything that depends on it. */
export class DomainChanges extends AggregateStore {
  readonly #needs: Needs;
  readonly #recordEntries = entryWriter(this.database);

  readonly #holderOf = this.database.prepare<{ host: string; id: string }, { id: string }>(
    (db, the) =>
      db
        .selectFrom('domains')
        .select('id')
        .where('proven_host', '=', the('host'))
        .where('id', '!=', the('id')),
  );

  readonly #update = this.database.prepareWrite<WrittenDomainRow>((db, the) =>
    db
      .updateTable('domains')
      .set({
        account_id: the('account_id'),
        project_id: the('project_id'),
        host: the('host'),
        unicode_host: the('unicode_host'),
        attached_host: the('attached_host'),
        proven_host: the('proven_host'),
        token: the('token'),
        state: the('state'),
        generation: the('generation'),
        added_at: the('added_at'),
        details: the('details'),
        due_at: the('due_at'),
      } satisfies Record<keyof Omit<WrittenDomainRow, 'id'>, unknown>)
      .where('id', '=', the('id')),
  );

  constructor(database: Database, outbox: KyselyOutbox, needs: Needs) {
    super(database, outbox);
    this.#needs = needs;
  }

  /** As `CustomDomains.change`, in a transaction. */
  async change<Change extends DomainChange>(
    id: string,
    decide: (domain: CustomDomain, holder: CustomDomain | undefined) => Change,
  ): Promise<Change> {
    const domain = await this.#lock(id);
    if (!domain) throw domainNotFound(id);
    const holder = await this.#lockHolder(domain);
    const change = decide(domain, holder);
    const { displaced, certificate } = change;
    // Stores the former holder first, because the index allows one holder for each name.
    const moves = [
      ...(displaced && holder ? [moveOf(holder, displaced)] : []),
      moveOf(domain, change),
    ];
    const others = provesName(domain, change.state)
      ? await projectsBelow(this.database, change.state)
      : [];
    await lockProjectsOf(this.database, moves, others);
    for (const move of moves) await this.#save(move);
    const { state } = change;
    if (provesName(domain, state)) await tellRivals(this.db, this.outbox, state);
    if (change.endsOrder !== undefined) await forgetOrder(this.db, change.endsOrder);
    if (change.ledger) await writeLedger(this.db, change.ledger);
    await serveMoves(this.database, moves, this.#needs.clock.now());
    for (const id of others) await alignRoutes(this.database, id, this.#needs.clock.now());
    if (certificate) await storeCertificate(this.db, this.#needs.sealer, certificate);
    return change;
  }

  async #save(move: ReturnType<typeof moveOf>): Promise<void> {
    const { from, to } = move;
    await refusedAs(this.#update(customDomainRow(to)), { duplicate: () => domainTaken(to) });
    await this.tell({ ...move, id: from.id });
    if (!isAttached(to) || losesName(move)) await forgetOrdersOf(this.db, from.id);
    if (!isAttached(to)) await forgetSharesOf(this.db, from.id);
  }

  async tell({ id, cause, events }: Told): Promise<void> {
    await this.outbox.append(events);
    await this.#recordEntries(id, timelineOf(cause, events));
  }

  async #lock(id: string): Promise<CustomDomain | undefined> {
    const row = await this.database.lock('domains', id);
    return row && customDomainFrom(row);
  }

  /** Looks again if the holder gave the name up while this waited for its lock. */
  async #lockHolder({ id, host }: CustomDomain): Promise<CustomDomain | undefined> {
    for (;;) {
      const [row] = await this.#holderOf({ host, id });
      const holder = row && (await this.#lock(row.id));
      if (!holder || isCertified(holder)) return holder;
    }
  }
}

type Told = Pick<DomainChange, 'cause' | 'events'> & { readonly id: string };

const moveOf = (from: CustomDomain, { state: to, events, cause }: DomainChange) => ({
  from,
  to,
  events,
  cause,
});

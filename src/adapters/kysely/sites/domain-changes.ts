import type { Clock, Sealer } from '../../../kernel/ports.ts';
import type { DomainsEvent } from '../../../domains/domain/domains-event.ts';
import {
  type DomainChange,
  timelineOf,
} from '../../../domains/domain/attachment/timeline-entries.ts';
import {
  consequencesOf,
  rivalsTold,
  type DomainMove,
  domainTaken,
} from '../../../domains/domain/attachment/contested-name.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isCertified } from '../../../domains/domain/attachment/domain-certificate.ts';
import { following } from '../../../domains/domain/attachment/serving.ts';
import { withNews } from '../../../domains/domain/attachment/due-work.ts';
import { domainNotFound } from '../../../domains/domain/domains-error.ts';
import { AggregateStore } from '../store.ts';
import type { Database } from '../database.ts';
import { refusedAs } from '../engine/failure.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import {
  customDomainFrom,
  customDomainRow,
  writtenColumns,
  type WrittenDomainRow,
} from './custom-domain-rows.ts';
import { forgetOrdersOf, writeWorkDone } from './kysely-certificate-orders.ts';
import { removeCertificate, storeCertificate } from './kysely-certificates.ts';
import { forgetSharesOf } from './kysely-domain-shares.ts';
import { entryWriter } from './kysely-timeline.ts';
import { projectsBelow, rivalsOf } from './domain-facts.ts';
import { alignRoutes } from './project-routes.ts';

interface Needs {
  readonly sealer: Sealer;
  /** Says what time brought about, and since when something is no longer served. */
  readonly clock: Clock;
}

type Decide<Change> = (domain: CustomDomain, holder: CustomDomain | undefined) => Change;

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

  readonly #deleted = this.database.prepare<{ projectId: string }, { id: string }>((db, the) =>
    db
      .selectFrom('projects')
      .innerJoin('accounts', 'accounts.id', 'projects.account_id')
      .select('projects.id')
      .where('projects.id', '=', the('projectId'))
      .where(({ eb, or }) =>
        or([eb('projects.deleted_at', 'is not', null), eb('accounts.deleted_at', 'is not', null)]),
      ),
  );

  readonly #update = this.database.prepareWrite<WrittenDomainRow>((db, the) =>
    db
      .updateTable('domains')
      .set(writtenColumns.without('id').slots(the))
      .where('id', '=', the('id')),
  );

  constructor(database: Database, outbox: KyselyOutbox, needs: Needs) {
    super(database, outbox);
    this.#needs = needs;
  }

  /** As `CustomDomains.change`, in a transaction. */
  async change<Change extends DomainChange>(id: string, decide: Decide<Change>): Promise<Change> {
    const { change } = await this.store(async () => {
      const stored = await this.#lock(id);
      if (!stored) throw domainNotFound(id);
      const now = this.#needs.clock.now();
      const domain = following(stored, await this.#isProjectDeleted(stored), now);
      const holder = await this.#lockHolder(domain);
      const change = withNews(decide(domain, holder), now);
      return { change, events: await this.#save(domain, holder, change) };
    });
    return change;
  }

  /** @param events what is told of a change of the domain */
  record(id: string, events: readonly DomainsEvent[], cause?: DomainMove['cause']): Promise<void> {
    return this.#recordEntries(id, timelineOf(cause, events));
  }

  /**
   * In this order: lock the projects before any write, in a fixed order, and take the revision last. Deploys use the same
   * order, so they cannot deadlock. Writing a domain only takes a shared lock on its project, which others can take too.
   * @returns what is told of it
   */
  async #save(
    domain: CustomDomain,
    holder: CustomDomain | undefined,
    change: DomainChange,
  ): Promise<readonly DomainsEvent[]> {
    const { database, db } = this;
    const { moves, proven, ...follows } = consequencesOf(domain, holder, change);
    const below = proven ? await projectsBelow(database, proven) : [];
    const projects = [...new Set([...follows.projects, ...below])].sort();
    for (const project of projects) await database.lock('projects', project);
    for (const move of moves) await this.#move(move);
    const told = moves.flatMap(({ events }) => events);
    if (proven) told.push(...rivalsTold(proven, await rivalsOf(db, proven)));
    for (const id of follows.withoutOrders) await forgetOrdersOf(db, id);
    for (const id of follows.withoutShares) await forgetSharesOf(db, id);
    await writeWorkDone(db, change);
    const now = this.#needs.clock.now();
    for (const project of projects) await alignRoutes(database, project, now);
    if (follows.uncertified !== undefined) await removeCertificate(db, follows.uncertified, now);
    if (change.certificate) await storeCertificate(db, this.#needs.sealer, change.certificate);
    return told;
  }

  async #move({ from, to, events, cause }: DomainMove): Promise<void> {
    await refusedAs(this.#update(customDomainRow(to)), { duplicate: () => domainTaken(to) });
    await this.record(from.id, events, cause);
  }

  async #isProjectDeleted({ projectId }: CustomDomain): Promise<boolean> {
    return (await this.#deleted({ projectId })).length > 0;
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

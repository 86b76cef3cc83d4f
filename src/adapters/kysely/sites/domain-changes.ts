import type { Insertable, Selectable } from 'kysely';
import type { Clock, Sealer } from '../../../kernel/ports.ts';
import type { DomainsEvent } from '../../../domains/domain/domains-event.ts';
import {
  type DomainChange,
  timelineOf,
  trimsAfter,
  type TimelineEntry,
} from '../../../domains/domain/attachment/timeline-entries.ts';
import {
  consequencesOf,
  eventsOf,
  type DomainMove,
  domainTaken,
} from '../../../domains/domain/attachment/contested-name.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isCertified } from '../../../domains/domain/attachment/domain-certificate.ts';
import { following } from '../../../domains/domain/attachment/serving.ts';
import { withNews } from '../../../domains/domain/attachment/due-work.ts';
import { domainNotFound } from '../../../domains/domain/domains-error.ts';
import { AggregateStore, Store } from '../store.ts';
import type { Database, Schema } from '../database.ts';
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
import { projectsBelow, rivalsOf } from './domain-facts.ts';
import { alignRoutes } from './project-routes.ts';
import type { Timeline, PlacedEntry } from '../../../domains/ports.ts';
import { domainTimeline } from './tables.ts';

interface Needs {
  readonly sealer: Sealer;
  readonly clock: Clock;
}

type Decide<Change> = (domain: CustomDomain, holder: CustomDomain | undefined) => Change;

export abstract class DomainChanges extends AggregateStore {
  protected readonly needs: Needs;
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
    this.needs = needs;
  }

  /** Call it in a transaction. */
  protected async changeOne<Change extends DomainChange>(
    id: string,
    decide: Decide<Change>,
  ): Promise<Change> {
    const { change } = await this.store(async () => {
      const stored = await this.#lock(id);
      if (!stored) throw domainNotFound(id);
      const now = this.needs.clock.now();
      const domain = following(stored, await this.#isProjectDeleted(stored), now);
      const holder = await this.#lockHolder(domain);
      const change = withNews(decide(domain, holder), now);
      return { change, events: await this.#save(domain, holder, change) };
    });
    return change;
  }

  protected record(
    id: string,
    events: readonly DomainsEvent[],
    cause?: DomainMove['cause'],
  ): Promise<void> {
    return this.#recordEntries(id, timelineOf(cause, events));
  }

  /**
   * Saves the domain. Locks projects before any write, in a fixed order, and takes the revision last. Deploys use the
   * same order, so they cannot deadlock.
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
    const rivals = proven ? await rivalsOf(db, proven) : [];
    for (const id of follows.withoutOrders) await forgetOrdersOf(db, id);
    for (const id of follows.withoutShares) await forgetSharesOf(db, id);
    await writeWorkDone(db, change);
    const now = this.needs.clock.now();
    for (const project of projects) await alignRoutes(database, project, now);
    if (follows.uncertified !== undefined) await removeCertificate(db, follows.uncertified, now);
    if (change.certificate) await storeCertificate(db, this.needs.sealer, change.certificate);
    return eventsOf({ moves, proven }, rivals);
  }

  /** Clears the claim: if its worker died, no other worker would ever take the row over. */
  #endClaim({ id }: CustomDomain): Promise<unknown> {
    return this.db
      .updateTable('domains')
      .set({ claim: null, claimed_until: null })
      .where('id', '=', id)
      .execute();
  }

  async #move({ from, to, events, cause }: DomainMove): Promise<void> {
    const row = customDomainRow(to);
    await refusedAs(this.#update(row), { duplicate: () => domainTaken(to) });
    if (row.due_at === null) await this.#endClaim(to);
    await this.record(from.id, events, cause);
  }

  async #isProjectDeleted({ projectId }: CustomDomain): Promise<boolean> {
    return (await this.#deleted({ projectId })).length > 0;
  }

  async #lock(id: string): Promise<CustomDomain | undefined> {
    const row = await this.database.lock('domains', id);
    return row && customDomainFrom(row);
  }

  /** Locks the name's holder. Looks again if the holder gave up the name meanwhile. */
  async #lockHolder({ id, host }: CustomDomain): Promise<CustomDomain | undefined> {
    for (;;) {
      const [row] = await this.#holderOf({ host, id });
      const holder = row && (await this.#lock(row.id));
      if (!holder || isCertified(holder)) return holder;
    }
  }
}

export class KyselyTimeline extends Store implements Timeline {
  async list(domainId: string, limit: number, before?: bigint): Promise<readonly PlacedEntry[]> {
    const rows = await this.#newestOf(domainId)
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0n))
      .limit(limit)
      .execute();
    return rows.map(readEntry);
  }

  async newestAttempt(domainId: string): Promise<PlacedEntry | undefined> {
    const attempts = this.#newestOf(domainId).where('kind', '=', 'attempt');
    const row = await attempts.limit(1).executeTakeFirst();
    return row && readEntry(row);
  }

  #newestOf(domainId: string) {
    const ofDomain = this.db.selectFrom('domain_timeline').where('domain_id', '=', domainId);
    return ofDomain.selectAll().orderBy('id', 'desc');
  }
}

const readEntry = (row: Selectable<Schema['domain_timeline']>): PlacedEntry => {
  const { id, kind, occurredAt, details } = domainTimeline.read(row);
  return { place: id, kind, occurredAt, details: JSON.parse(details) as TimelineEntry['details'] };
};

const entryWriter = (
  database: Database,
): ((domainId: string, entries: readonly TimelineEntry[]) => Promise<void>) => {
  const insert = database.prepareWrite<Insertable<Schema['domain_timeline']>>((db, the) =>
    db.insertInto('domain_timeline').values(domainTimeline.without('id').slots(the)),
  );
  const trimOne = trimmer(database);
  return async (domainId, entries) => {
    for (const entry of entries) {
      const { kind } = entry;
      const details = JSON.stringify(entry.details);
      await insert(domainTimeline.write({ ...entry, domainId, details }));
      for (const trim of trimsAfter(kind)) await trimOne({ domainId, ...trim });
    }
  };
};

/** Most entries deleted in one step. An entry takes up to 30 kB. */
const slice = 100;

interface Trim {
  readonly domainId: string;
  readonly kind: string;
  readonly most: number;
}

const trimmer = (database: Database): ((trim: Trim) => Promise<void>) => {
  const tooOld = database.prepare<Pick<Trim, keyof Trim>, { id: bigint }>((db, the) =>
    db
      .selectFrom('domain_timeline')
      .select('id')
      .where('domain_id', '=', the('domainId'))
      .where('kind', '=', the('kind'))
      .orderBy('id', 'desc')
      .offset(the('most'))
      .limit(slice),
  );
  return async (trim) => {
    // Deletes by id, so that MySQL locks single rows.
    const ids = (await tooOld({ ...trim })).map(({ id }) => id);
    if (ids.length === 0) return;
    await database.db.deleteFrom('domain_timeline').where('id', 'in', ids).execute();
  };
};

import type { Clock } from '../../../kernel/clock.ts';
import type { Ids } from '../../../kernel/ids.ts';
import type { Sealer } from '../../../kernel/sealer.ts';
import { isCertified } from '../../../domains/domain/attachment/plan.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isAttached } from '../../../domains/domain/attachment/serving.ts';
import { timelineOf } from '../../../domains/domain/attachment/timeline.ts';
import { projectNotFound } from '../../../sites/domain/sites-error.ts';
import { domainNotFound, domainTaken } from '../../../domains/domain/domains-error.ts';
import type { CaUse } from '../../../domains/domain/certificates/ca-budget.ts';
import type { DomainChange } from '../../../domains/domain/attachment/change.ts';
import type { CustomDomains, DomainClaim, HeldDomain } from '../../../domains/ports.ts';
import { lockedRow } from '../locked-row.ts';
import { customDomainFrom, customDomainRow, type CustomDomainRow } from './custom-domain-rows.ts';
import type { Database, Queries } from '../database.ts';
import { TellingStore } from '../telling-store.ts';
import { claimDue } from './domain-claims.ts';
import { lockProjectsOf, serveMoves } from './domain-moves.ts';
import { refusedAs } from '../engine/failure.ts';
import { JointWrites } from '../joint-writes.ts';
import { takeTurn, useOf, writeLedger } from './kysely-authority-ledger.ts';
import { forgetOrder, forgetOrdersOf } from './kysely-certificate-orders.ts';
import { storeCertificate } from './kysely-certificates.ts';
import { recordEntries } from './kysely-timeline.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { alignRoutes } from './project-routes.ts';
import { fromMillis, toMillis } from '../schema.ts';

type Wanted = Parameters<CustomDomains['add']>[0];
type Admit = Parameters<CustomDomains['add']>[1];

const mostRemovedShown = 20;

interface Needs {
  readonly sealer: Sealer;
  readonly ids: Ids;
  /** Says since when something is no longer served. */
  readonly clock: Clock;
}

export class KyselyCustomDomains extends TellingStore implements CustomDomains {
  readonly #writes: JointWrites;
  readonly #needs: Needs;

  constructor(database: Database, outbox: KyselyOutbox, needs: Needs) {
    super(database, outbox);
    this.#writes = new JointWrites(database, outbox.acting);
    this.#needs = needs;
  }

  add({ accountId, projectId, host, addedSince }: Wanted, decide: Admit): Promise<CustomDomain> {
    return this.database.transaction(async (db) => {
      // Serialises the adds of one account, across its projects.
      await lockedRow(this.database, 'accounts', accountId);
      const project = await lockedRow(this.database, 'projects', projectId);
      if (project?.account_id !== accountId) throw projectNotFound(projectId);
      const own = await db
        .selectFrom('domains')
        .innerJoin('projects', 'projects.id', 'domains.project_id')
        .select(['domains.host', 'domains.project_id', 'projects.name'])
        .where('domains.account_id', '=', accountId)
        .where('domains.attached_host', 'is not', null)
        .execute();
      const same = own.find((one) => one.host === host);
      const { state, events } = decide({
        current: own.length,
        addedLately: await addedSinceOf(db, accountId, addedSince),
        hasSucceededDeploy: project.served_deploy_id !== null,
        attachedTo: same && { name: same.name, isThisOne: same.project_id === projectId },
      });
      await db.insertInto('domains').values(customDomainRow(state)).execute();
      await this.#tell({ id: state.id, events });
      await alignRoutes(this.database, projectId, this.#needs.clock.now());
      return state;
    });
  }

  async find(projectId: string, host: string): Promise<CustomDomain | undefined> {
    const [found] = await this.#read((domains) =>
      domains
        .where('project_id', '=', projectId)
        .where('host', '=', host)
        .orderBy('attached_host', 'desc')
        .orderBy('added_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1),
    );
    return found;
  }

  async get(id: string): Promise<CustomDomain | undefined> {
    const [found] = await this.#read((domains) => domains.where('id', '=', id));
    return found;
  }

  async list(projectId: string): Promise<readonly CustomDomain[]> {
    const attached = await this.#read((domains) =>
      domains.where('project_id', '=', projectId).where('attached_host', 'is not', null),
    );
    const removed = await this.#read((domains) =>
      domains
        .where('project_id', '=', projectId)
        .where('attached_host', 'is', null)
        .orderBy('added_at', 'desc')
        .orderBy('id', 'desc')
        .limit(mostRemovedShown),
    );
    // A domain removed between the two reads is in both; the later read wins.
    const all = new Map([...attached, ...removed].map((domain) => [domain.id, domain]));
    return [...all.values()].sort(newestFirst);
  }

  async holderOf(host: string): Promise<CustomDomain | undefined> {
    const [found] = await this.#read((domains) => domains.where('proven_host', '=', host));
    return found;
  }

  change<Change extends DomainChange>(
    id: string,
    decide: (domain: CustomDomain, holder: CustomDomain | undefined) => Change,
  ): Promise<Change> {
    return this.#writes.transaction(() => this.#change(id, decide));
  }

  changeCounted<Change extends DomainChange>(
    id: string,
    now: Date,
    decide: (domain: CustomDomain, use: CaUse) => Change,
  ): Promise<Change> {
    return this.#writes.transaction(async (db) => {
      await takeTurn(db);
      const domain = await this.get(id);
      if (!domain) throw domainNotFound(id);
      // Account and host never change, so counting before locking is safe.
      const use = await useOf(db, domain, now);
      return this.#change(id, (current) => decide(current, use));
    });
  }

  claimDue(now: Date, leaseUntil: Date, limit: number): Promise<DomainClaim> {
    const claim = this.#needs.ids.next('claim');
    return claimDue(this.database, { claim, now, leaseUntil, limit });
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
    await this.#writes.transaction((db) =>
      db
        .updateTable('domains')
        .set({ claim: null, claimed_until: null })
        .where('id', '=', id)
        .where('claim', '=', claim)
        .execute(),
    );
  }

  live(after: string, limit: number): Promise<readonly CustomDomain[]> {
    return this.#read((domains) =>
      domains.where('state', '=', 'live').where('id', '>', after).orderBy('id').limit(limit),
    );
  }

  async #change<Change extends DomainChange>(
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
    await lockProjectsOf(this.database, moves);
    for (const move of moves) await this.#save(move);
    if (change.endsOrder !== undefined) await forgetOrder(this.db, change.endsOrder);
    if (change.ledger) await writeLedger(this.db, change.ledger);
    await serveMoves(this.database, moves, this.#needs.clock.now());
    if (certificate) await storeCertificate(this.db, this.#needs.sealer, certificate);
    return change;
  }

  async #read(
    narrow: (domains: DomainQuery) => { execute(): Promise<CustomDomainRow[]> },
  ): Promise<readonly CustomDomain[]> {
    const rows = await narrow(selectDomains(this.db)).execute();
    return rows.map(customDomainFrom);
  }

  async #save(move: ReturnType<typeof moveOf>): Promise<void> {
    const { from, to } = move;
    const update = this.db.updateTable('domains').set(customDomainRow(to));
    await refusedAs(update.where('id', '=', from.id).execute(), {
      duplicate: () => domainTaken(to.host),
    });
    await this.#tell({ ...move, id: from.id });
    if (!isAttached(to)) await forgetOrdersOf(this.db, from.id);
  }

  async #tell({ id, cause, events }: Told): Promise<void> {
    await this.outbox.append(events);
    await recordEntries(this.db, id, timelineOf(cause, events));
  }

  async #lock(id: string): Promise<CustomDomain | undefined> {
    const row = await lockedRow(this.database, 'domains', id);
    return row && customDomainFrom(row);
  }

  /** Looks again if the holder gave the name up while this waited for its lock. */
  async #lockHolder({ id, host }: CustomDomain): Promise<CustomDomain | undefined> {
    for (;;) {
      const row = await this.db
        .selectFrom('domains')
        .select('id')
        .where('proven_host', '=', host)
        .where('id', '!=', id)
        .executeTakeFirst();
      const holder = row && (await this.#lock(row.id));
      if (!holder || isCertified(holder)) return holder;
    }
  }
}

/** Removed ones too. */
const addedSinceOf = async (
  db: Queries,
  accountId: string,
  since: Date,
): Promise<readonly Date[]> => {
  const rows = await db
    .selectFrom('domains')
    .select('added_at')
    .where('account_id', '=', accountId)
    .where('added_at', '>', toMillis(since))
    .orderBy('added_at', 'desc')
    .execute();
  return rows.map(({ added_at }) => fromMillis(added_at));
};

type Told = Pick<DomainChange, 'cause' | 'events'> & { readonly id: string };

const moveOf = (from: CustomDomain, { state: to, events, cause }: DomainChange) => ({
  from,
  to,
  events,
  cause,
});

type DomainQuery = ReturnType<typeof selectDomains>;

const selectDomains = (db: Queries) => db.selectFrom('domains').selectAll();

const newestFirst = (one: CustomDomain, other: CustomDomain): number =>
  other.addedAt.getTime() - one.addedAt.getTime() || (one.id < other.id ? 1 : -1);

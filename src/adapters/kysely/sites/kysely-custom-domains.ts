import type { ExpressionBuilder } from 'kysely';
import type { Ids } from '../../../kernel/ports.ts';
import {
  customDomainStates,
  type CustomDomain,
  type CustomDomainState,
  type DomainDecision,
} from '../../../domains/domain/attachment/custom-domain.ts';
import { namesFor } from '../../../domains/domain/names/hostname.ts';
import type { AddDecision } from '../../../domains/domain/redirects/pair.ts';
import { domainNotFound } from '../../../domains/domain/domains-error.ts';
import type { CaUse } from '../../../domains/domain/certificates/ca-budget.ts';
import type { DomainChange } from '../../../domains/domain/attachment/timeline-entries.ts';
import type {
  CustomDomains,
  DomainCounts,
  DomainListing,
  DomainOverview,
  DomainPlace,
  DueDomain,
  DueDomains,
} from '../../../domains/ports.ts';
import {
  type Attention,
  attentions,
  type DomainFilter,
} from '../../../domains/domain/attachment/due-work.ts';
import type { Claimed, Most } from '../../../kernel/queue.ts';
import type { Database, Queries, Schema } from '../database.ts';
import { Store } from '../store.ts';
import { QueueRows } from '../queue.ts';
import { customDomainFrom, customDomainRow, type CustomDomainRow } from './custom-domain-rows.ts';
import { lookAtAccount } from './domain-facts.ts';
import { DomainChanges } from './domain-changes.ts';
import { takeTurn, useOf } from './kysely-certificate-orders.ts';
import { alignRoutes, hostsOf, settingsFrom, storeSettings } from './project-routes.ts';

type Wanted = Parameters<CustomDomains['add']>[0];
type Decide = Parameters<CustomDomains['add']>[1];

const mostRemovedShown = 20;

export class KyselyCustomDomains extends DomainChanges implements CustomDomains {
  readonly #get = this.database.prepare<{ id: string }, CustomDomainRow>((db, the) =>
    selectDomains(db).where('id', '=', the('id')),
  );

  readonly #find = this.database.prepare<{ projectId: string; host: string }, CustomDomainRow>(
    (db, the) =>
      selectDomains(db)
        .where('project_id', '=', the('projectId'))
        .where('host', '=', the('host'))
        .orderBy('attached_host', 'desc')
        .orderBy('added_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1),
  );

  add({ hosts: { typed, other }, ...wanted }: Wanted, decide: Decide): Promise<AddDecision> {
    const { projectId } = wanted;
    const lock = async (db: Queries) => {
      const holdersOf = (host: string) => this.holdersOf(host);
      const { project, factsOf } = await lookAtAccount(this.database, wanted, holdersOf);
      return {
        typed: await factsOf(typed),
        other: other === undefined ? other : await factsOf(other),
        settings: settingsFrom(project),
        hosts: await hostsOf(db, projectId),
      };
    };
    return this.changing(lock, decide, async (added, db) => {
      await this.#insert(added.typed);
      if (added.other) await this.#insert(added.other);
      await storeSettings(db, projectId, added.settings);
      await alignRoutes(this.database, projectId, this.needs.clock.now());
    });
  }

  async #insert({ state, events }: DomainDecision): Promise<void> {
    await this.db.insertInto('domains').values(customDomainRow(state)).execute();
    await this.record(state.id, events);
  }

  async find(projectId: string, host: string): Promise<CustomDomain | undefined> {
    const [found] = await this.#find({ projectId, host });
    return found && customDomainFrom(found);
  }

  async get(id: string): Promise<CustomDomain | undefined> {
    const [found] = await this.#get({ id });
    return found && customDomainFrom(found);
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

  async listPage(
    projectId: string,
    { filter, text, after, limit }: DomainListing,
  ): Promise<readonly CustomDomain[]> {
    return this.#read((domains) =>
      domains
        .where('project_id', '=', projectId)
        .where((eb) => listed(eb, filter))
        .$if(text !== '', (found) => found.where((eb) => contains(eb, text)))
        .$call((found) => (after ? found.where((eb) => isAfter(eb, after)) : found))
        .orderBy('attention')
        .orderBy('attention_at')
        .orderBy('host')
        .orderBy('id')
        .limit(limit),
    );
  }

  async overview(accountId: string, most: number): Promise<DomainOverview> {
    const projects = await this.db
      .selectFrom('projects')
      .select(['id', 'domain_settings'])
      .where('account_id', '=', accountId)
      .where('deleted_at', 'is', null)
      .execute();
    const ids = projects.map(({ id }) => id);
    if (ids.length === 0) return nothingYet;
    const primaryOf = new Map(projects.map((row) => [row.id, settingsFrom(row).primary]));
    const hosts = [...primaryOf.values()].flatMap((host) => host ?? []);
    const ofProjects = (domains: DomainQuery) =>
      domains.where('account_id', '=', accountId).where('project_id', 'in', ids);
    const [named, wanting, counts] = await Promise.all([
      hosts.length === 0
        ? []
        : this.#read((domains) => ofProjects(domains).where('attached_host', 'in', hosts)),
      this.#read((domains) =>
        ofProjects(domains)
          .where((eb) => listed(eb, 'owner'))
          .orderBy('attention')
          .orderBy('attention_at')
          .orderBy('host')
          .limit(most),
      ),
      this.#countAttached(accountId, ids),
    ]);
    const primaries = named.filter(({ projectId, host }) => primaryOf.get(projectId) === host);
    const byProject = [...Map.groupBy(counts, ({ project_id }) => project_id)];
    return {
      primaries: new Map(primaries.map((domain) => [domain.projectId, domain])),
      wanting,
      wantingInAll: sumOf(counts, ({ attention }) => attention < needsOwnerBelow),
      attached: new Map(byProject.map(([id, of]) => [id, sumOf(of)])),
      live: sumOf(counts, ({ state }) => state === 'live'),
    };
  }

  #countAttached(accountId: string, projectIds: readonly string[]) {
    return this.db
      .selectFrom('domains')
      .select(({ fn }) => ['project_id', 'state', 'attention', fn.countAll<bigint>().as('count')])
      .where('account_id', '=', accountId)
      .where('project_id', 'in', projectIds)
      .where('attention', '<', placeOf('gone'))
      .groupBy(['project_id', 'state', 'attention'])
      .execute();
  }

  /** Reads only an index. */
  async countListed(projectId: string): Promise<DomainCounts> {
    const rows = await this.db
      .selectFrom('domains')
      .select(({ fn }) => ['state', 'attention', fn.countAll<bigint>().as('count')])
      .where('project_id', '=', projectId)
      .groupBy(['state', 'attention'])
      .execute();
    const inState = (state: CustomDomainState) => sumOf(rows, (row) => row.state === state);
    return {
      attached: sumOf(rows, (row) => row.state !== 'removed'),
      owner: sumOf(rows, ({ attention }) => attention < needsOwnerBelow),
      added: inState('added'),
      verified: inState('verified'),
      live: inState('live'),
      removed: inState('removed'),
    };
  }

  listNamed(accountId: string, text: string, limit: number): Promise<readonly CustomDomain[]> {
    return this.#read((domains) =>
      domains
        .where('account_id', '=', accountId)
        .where('attached_host', 'is not', null)
        .where('project_id', 'not in', ({ selectFrom }) =>
          selectFrom('projects')
            .select('id')
            .where('account_id', '=', accountId)
            .where('deleted_at', 'is not', null),
        )
        .where((eb) => contains(eb, text))
        .orderBy('host')
        .limit(limit),
    );
  }

  async holdersOf(host: string): Promise<readonly CustomDomain[]> {
    const names = namesFor(host);
    const found = await this.#read((domains) => domains.where('proven_host', 'in', names));
    return found.toSorted((one, other) => names.indexOf(one.host) - names.indexOf(other.host));
  }

  change<Change extends DomainChange>(
    id: string,
    decide: (domain: CustomDomain, holder: CustomDomain | undefined) => Change,
  ): Promise<Change> {
    return this.database.batched(() => this.changeOne(id, decide));
  }

  changeCounted<Change extends DomainChange>(
    id: string,
    { authority, now }: { readonly authority: string; readonly now: Date },
    decide: (domain: CustomDomain, use: CaUse) => Change,
  ): Promise<Change> {
    return this.database.batched(async (db) => {
      await takeTurn(db);
      const domain = await this.get(id);
      if (!domain) throw domainNotFound(id);
      // Account and host never change, so counting before locking is safe.
      const use = await useOf(db, { ...domain, authority }, now);
      return this.changeOne(id, (current) => decide(current, use));
    });
  }

  inState(
    state: CustomDomainState,
    after: string,
    limit: number,
  ): Promise<readonly CustomDomain[]> {
    return this.#read((domains) =>
      domains.where('state', '=', state).where('id', '>', after).orderBy('id').limit(limit),
    );
  }

  /** Reads only an index. */
  async countByState(): Promise<Readonly<Record<CustomDomainState, number>>> {
    const rows = await this.db
      .selectFrom('domains')
      .select(({ fn }) => ['state', fn.countAll<bigint>().as('count')])
      .groupBy('state')
      .execute();
    const countOf = (wanted: CustomDomainState) => sumOf(rows, ({ state }) => state === wanted);
    const all = customDomainStates.map((state) => [state, countOf(state)]);
    return Object.fromEntries(all) as Record<CustomDomainState, number>;
  }

  async #read(
    narrow: (domains: DomainQuery) => { execute(): Promise<CustomDomainRow[]> },
  ): Promise<readonly CustomDomain[]> {
    const rows = await narrow(selectDomains(this.db)).execute();
    return rows.map(customDomainFrom);
  }
}

const sumOf = <Row extends { readonly count: bigint }>(
  rows: readonly Row[],
  isCounted: (row: Row) => boolean = () => true,
): number => rows.filter(isCounted).reduce((all, { count }) => all + Number(count), 0);

type DomainQuery = ReturnType<typeof selectDomains>;

const nothingYet: DomainOverview = {
  primaries: new Map(),
  wanting: [],
  wantingInAll: 0,
  attached: new Map(),
  live: 0,
};

const placeOf = (attention: Attention) => BigInt(attentions.indexOf(attention));
const needsOwnerBelow = placeOf('none');

const listed = (eb: ExpressionBuilder<Schema, 'domains'>, filter: DomainFilter) => {
  switch (filter) {
    case 'attached':
      return eb('attention', '<', placeOf('gone'));
    case 'owner':
      return eb('attention', '<', needsOwnerBelow);
    case 'added':
    case 'verified':
    case 'live':
    case 'removed':
      return eb('state', '=', filter);
  }
};

const isAfter = (
  eb: ExpressionBuilder<Schema, 'domains'>,
  { attention, at, host, id }: DomainPlace,
) =>
  eb(
    eb.refTuple('attention', 'attention_at', 'host', 'id'),
    '>',
    eb.tuple(placeOf(attention), BigInt(at.getTime()), host, id),
  );

/** Finds the text as typed or in its DNS form. */
const contains = (eb: ExpressionBuilder<Schema, 'domains'>, text: string) => {
  const isIn = (column: 'host' | 'unicode_host') =>
    eb(eb.fn<number>('instr', [eb.ref(column), eb.val(text)]), '>', 0);
  return eb.or([isIn('host'), isIn('unicode_host')]);
};

const selectDomains = (db: Queries) => db.selectFrom('domains').selectAll();

const newestFirst = (one: CustomDomain, other: CustomDomain): number =>
  other.addedAt.getTime() - one.addedAt.getTime() || (one.id < other.id ? 1 : -1);

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
      table: 'domains',
      key: 'id',
      due: 'due_at',
      leaseEnd: 'claimed_until',
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

  prolong(held: readonly Claimed[], leaseUntil: Date): Promise<void> {
    return this.#queue.prolong(held, leaseUntil);
  }

  done(held: readonly Claimed[]): Promise<void> {
    return this.#queue.release(held);
  }
}

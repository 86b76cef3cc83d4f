import type { QueryCreator, SelectQueryBuilder, Insertable } from 'kysely';
import {
  largestInt64,
  type Pet,
  type PetDraft,
  type PetId,
  type PetStatus,
  searchedName,
} from '../../catalogue/domain/pet.ts';
import type { Page, PageBack, Pets, PetSearch, Orders } from '../../catalogue/ports.ts';
import { petNotFound, orderNotFound } from '../../catalogue/domain/catalogue-error.ts';
import type { CatalogueEvent } from '../../catalogue/domain/catalogue-event.ts';
import type { Decision } from '../../kernel/decision.ts';
import type { Order, OrderId, OrderStatus, Sale } from '../../catalogue/domain/order.ts';
import type { Database, Queries, Schema } from './database.ts';
import { searchRows } from './kysely-pet-search.ts';
import { AggregateStore, insertMany } from './store.ts';
import { present } from './table.ts';
import { pets, orders } from './tables.ts';
import { runWithNext } from './engine/statements.ts';
import type { KyselyOutbox } from './kysely-outbox.ts';

type Table = 'pets' | 'orders';
type Rows<Row> = (db: QueryCreator<Schema>) => SelectQueryBuilder<Schema, Table, Row>;
type PageOf = Readonly<{ accountId: string; from: bigint; limit: number }>;

const prepareList = <Row>(
  database: Database,
  rows: Rows<Row>,
  [beyond, order]: readonly ['>', 'asc'] | readonly ['<=', 'desc'],
) => {
  const ofAll = database.prepare<PageOf, Row>((db, the) =>
    rows(db)
      .where('account_id', '=', the('accountId'))
      .where('id', beyond, the('from'))
      .orderBy('id', order)
      .limit(the('limit')),
  );
  const ofStatus = database.prepare<PageOf & { readonly status: string }, Row>((db, the) =>
    rows(db)
      .where('account_id', '=', the('accountId'))
      .where('status', '=', the('status'))
      .where('id', beyond, the('from'))
      .orderBy('id', order)
      .limit(the('limit')),
  );
  return (page: PageOf, status: string | undefined): Promise<readonly Row[]> =>
    status === undefined ? ofAll(page) : ofStatus({ ...page, status });
};

type PetRow = Parameters<typeof petColumns.read>[0];

const petColumns = pets.without('accountId', 'searchedName');
const petFrom: (row: PetRow) => Pet = petColumns.read;

export class KyselyPets extends AggregateStore implements Pets {
  readonly #list = prepareList(
    this.database,
    (db) => db.selectFrom('pets').select(petColumns.names),
    ['>', 'asc'],
  );

  readonly #find = this.database.prepare<{ accountId: string; id: bigint }, PetRow>((db, the) =>
    db
      .selectFrom('pets')
      .select(petColumns.names)
      .where('id', '=', the('id'))
      .where('account_id', '=', the('accountId')),
  );

  readonly #insert = this.database.prepareWrite<Insertable<Schema['pets']>>((db, the) =>
    db.insertInto('pets').values(pets.without('id').slots(the)),
  );

  async list(
    accountId: string,
    { after, limit }: Page,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]> {
    return (await this.#list({ accountId, from: after, limit }, status)).map(petFrom);
  }

  async search(accountId: string, search: PetSearch): Promise<readonly Pet[]> {
    return (await searchRows(this.database, accountId, search).execute()).map(petFrom);
  }

  async find(accountId: string, id: PetId): Promise<Pet | undefined> {
    const [row] = await this.#find({ accountId, id });
    return row && petFrom(row);
  }

  async findSome(accountId: string, ids: readonly PetId[]): Promise<readonly Pet[]> {
    if (ids.length === 0) return [];
    const rows = await this.db
      .selectFrom('pets')
      .select(petColumns.names)
      .where('id', 'in', ids)
      .where('account_id', '=', accountId)
      .execute();
    return rows.map(petFrom);
  }

  async add(
    accountId: string,
    draft: PetDraft,
    decide: (id: PetId) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet> {
    const { state } = await this.store(async () => {
      const inserted = await this.#insert(rowOf(accountId, draft));
      return decide(this.database.engine.insertedId(inserted));
    });
    return state;
  }

  async addAll(
    accountId: string,
    drafts: readonly PetDraft[],
    decide: (id: PetId, draft: PetDraft) => Decision<Pet, CatalogueEvent>,
  ): Promise<void> {
    await this.store(async (db) => {
      const events: CatalogueEvent[] = [];
      await insertMany(drafts, async (some) => {
        const rows = some.map((draft) => rowOf(accountId, draft));
        const inserted = await db.insertInto('pets').values(rows).executeTakeFirstOrThrow();
        const ids = await this.#idsFrom(db, accountId, {
          first: this.database.engine.firstInsertedId(inserted, some.length),
          limit: some.length,
        });
        for (const [at, draft] of some.entries()) {
          events.push(...decide(present('id', ids[at]), draft).events);
        }
      });
      return { events };
    });
  }

  async change(
    accountId: string,
    id: PetId,
    decide: (pet: Pet) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet> {
    const { state } = await this.changing(
      () => this.lock(accountId, id),
      decide,
      ({ state }) => this.save(state),
    );
    return state;
  }

  async remove(
    accountId: string,
    id: PetId,
    decide: (pet: Pet) => readonly CatalogueEvent[],
  ): Promise<void> {
    await this.changing(
      () => this.lock(accountId, id),
      (pet) => ({ events: decide(pet) }),
      (_decision, db) => db.deleteFrom('pets').where('id', '=', id).execute(),
    );
  }

  /** @throws DomainError `pet_not_found` */
  async lock(accountId: string, id: PetId): Promise<Pet> {
    const row = await this.db
      .selectFrom('pets')
      .select(petColumns.names)
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .$call(this.database.engine.locked)
      .executeTakeFirst();
    if (!row) throw petNotFound(id);
    return petFrom(row);
  }

  async save({ id, ...fields }: Pet): Promise<void> {
    const row = pets.write({ ...fields, searchedName: searchedName(fields.name) });
    await this.database.run((db) =>
      runWithNext(db, db.updateTable('pets').set(row).where('id', '=', id)),
    );
  }

  /** Returns the inserted rows' ids, ascending in the rows' order. */
  async #idsFrom(
    db: Queries,
    accountId: string,
    { first, limit }: { readonly first: bigint; readonly limit: number },
  ): Promise<readonly PetId[]> {
    const rows = await db
      .selectFrom('pets')
      .select('id')
      .where('account_id', '=', accountId)
      .where('id', '>=', first)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id);
  }
}

const rowOf = (accountId: string, draft: PetDraft) =>
  pets.write({ ...draft, accountId, searchedName: searchedName(draft.name) });

const orderColumns = orders.without('accountId');
const orderFrom: (row: Parameters<typeof orderColumns.read>[0]) => Order = orderColumns.read;

const orderRows = (db: Queries) => db.selectFrom('orders').select(orderColumns.names);

export class KyselyOrders extends AggregateStore implements Orders {
  readonly #pets: KyselyPets;
  readonly #list = prepareList(this.database, orderRows, ['>', 'asc']);
  readonly #newest = prepareList(this.database, orderRows, ['<=', 'desc']);

  constructor(database: Database, outbox: KyselyOutbox, pets: KyselyPets) {
    super(database, outbox);
    this.#pets = pets;
  }

  async list(accountId: string, { after, limit }: Page): Promise<readonly Order[]> {
    return (await this.#list({ accountId, from: after, limit }, undefined)).map(orderFrom);
  }

  async newest(
    accountId: string,
    { before, limit }: PageBack,
    status: OrderStatus | undefined,
  ): Promise<readonly Order[]> {
    const from = before === undefined ? largestInt64 : before - 1n;
    return (await this.#newest({ accountId, from, limit }, status)).map(orderFrom);
  }

  async find(accountId: string, id: OrderId): Promise<Order | undefined> {
    const row = await this.#of(this.db, accountId).where('id', '=', id).executeTakeFirst();
    return row && orderFrom(row);
  }

  async findOf(accountId: string, petId: PetId): Promise<Order | undefined> {
    const row = await this.#of(this.db, accountId).where('pet_id', '=', petId).executeTakeFirst();
    return row && orderFrom(row);
  }

  async place(
    accountId: string,
    petId: PetId,
    decide: (pet: Pet) => Decision<Sale, CatalogueEvent>,
  ): Promise<Order> {
    const { state } = await this.store(async (db) => {
      const { state, events } = decide(await this.#pets.lock(accountId, petId));
      await this.#pets.save(state.pet);
      const row = orders.write({ ...state.order, accountId });
      const inserted = await db.insertInto('orders').values(row).executeTakeFirstOrThrow();
      const id = this.database.engine.insertedId(inserted);
      return { state: { id, ...state.order }, events };
    });
    return state;
  }

  async change(
    accountId: string,
    id: OrderId,
    decide: (order: Order) => Decision<Order, CatalogueEvent>,
  ): Promise<Order> {
    const { state } = await this.changing(
      (db) => this.#lock(db, accountId, id),
      decide,
      ({ state }, db) =>
        runWithNext(db, db.updateTable('orders').set(orders.write(state)).where('id', '=', id)),
    );
    return state;
  }

  async #lock(db: Queries, accountId: string, id: OrderId): Promise<Order> {
    const row = await this.#of(db, accountId)
      .where('id', '=', id)
      .$call(this.database.engine.locked)
      .executeTakeFirst();
    if (!row) throw orderNotFound(id);
    return orderFrom(row);
  }

  #of(db: Queries, accountId: string) {
    return orderRows(db).where('account_id', '=', accountId);
  }
}

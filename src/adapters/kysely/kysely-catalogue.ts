import type { QueryCreator, SelectQueryBuilder, Insertable } from 'kysely';
import {
  largestInt64,
  type Pet,
  type PetDraft,
  type PetId,
  type PetStatus,
} from '../../catalogue/domain/pet.ts';
import type { Page, PageBack, Pets, Orders } from '../../catalogue/ports.ts';
import { petNotFound, orderNotFound } from '../../catalogue/domain/catalogue-error.ts';
import type { CatalogueEvent } from '../../catalogue/domain/catalogue-event.ts';
import type { Decision } from '../../kernel/decision.ts';
import type { Order, OrderId, OrderStatus, Sale } from '../../catalogue/domain/order.ts';
import type { Database, Queries } from './database.ts';
import { pets, orders } from './tables.ts';
import type { Schema } from './schema.ts';
import { AggregateStore } from './store.ts';
import { runWithNext } from './engine/statements.ts';
import type { KyselyOutbox } from './kysely-outbox.ts';

type Table = 'pets' | 'orders';
type Rows<Row> = (db: QueryCreator<Schema>) => SelectQueryBuilder<Schema, Table, Row>;
type PageOf = Readonly<{ accountId: string; from: bigint; limit: number }>;

/** Lists the rows of an account, all or those of one status, page by page. */
const listings = <Row>(database: Database, rows: Rows<Row>) => {
  const forwards = prepareList(database, rows, ['>', 'asc']);
  const backwards = prepareList(database, rows, ['<=', 'desc']);
  return {
    list: (accountId: string, { after, limit }: Page, status?: string) =>
      forwards({ accountId, from: after, limit }, status),
    newest: (accountId: string, { before, limit }: PageBack, status?: string) => {
      const from = before === undefined ? largestInt64 : before - 1n;
      return backwards({ accountId, from, limit }, status);
    },
  };
};

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

const petColumns = pets.without('accountId');
const petFrom: (row: PetRow) => Pet = petColumns.read;

export class KyselyPets extends AggregateStore implements Pets {
  readonly #lists = listings(this.database, (db) => db.selectFrom('pets').select(petColumns.names));

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
    page: Page,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]> {
    return (await this.#lists.list(accountId, page, status)).map(petFrom);
  }

  async newest(
    accountId: string,
    page: PageBack,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]> {
    return (await this.#lists.newest(accountId, page, status)).map(petFrom);
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
      const inserted = await this.#insert(pets.write({ ...draft, accountId }));
      return decide(this.database.engine.insertedId(inserted));
    });
    return state;
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

  /** For the other adapters of this folder, inside their transaction. @throws DomainError `pet_not_found` */
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
    await this.database.run((db) =>
      runWithNext(db, db.updateTable('pets').set(pets.write(fields)).where('id', '=', id)),
    );
  }
}

const orderColumns = orders.without('accountId');
const orderFrom: (row: Parameters<typeof orderColumns.read>[0]) => Order = orderColumns.read;

export class KyselyOrders extends AggregateStore implements Orders {
  readonly #pets: KyselyPets;
  readonly #lists = listings(this.database, (db) =>
    db.selectFrom('orders').select(orderColumns.names),
  );

  constructor(database: Database, outbox: KyselyOutbox, pets: KyselyPets) {
    super(database, outbox);
    this.#pets = pets;
  }

  async list(accountId: string, page: Page): Promise<readonly Order[]> {
    return (await this.#lists.list(accountId, page)).map(orderFrom);
  }

  async newest(
    accountId: string,
    page: PageBack,
    status: OrderStatus | undefined,
  ): Promise<readonly Order[]> {
    return (await this.#lists.newest(accountId, page, status)).map(orderFrom);
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
    const row = await db
      .selectFrom('orders')
      .select(orderColumns.names)
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .$call(this.database.engine.locked)
      .executeTakeFirst();
    if (!row) throw orderNotFound(id);
    return orderFrom(row);
  }
}

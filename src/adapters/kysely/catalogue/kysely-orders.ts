import { orderNotFound } from '../../../catalogue/domain/catalogue-error.ts';
import type { CatalogueEvent } from '../../../catalogue/domain/catalogue-event.ts';
import type { Order, OrderId, OrderStatus, Sale } from '../../../catalogue/domain/order.ts';
import type { Pet, PetId } from '../../../catalogue/domain/pet.ts';
import type { Orders, Page, PageBack } from '../../../catalogue/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import type { Database, Queries } from '../database.ts';
import { AggregateStore } from '../aggregate-store.ts';
import { listings } from './listings.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import type { KyselyPets } from './kysely-pets.ts';
import { orders } from '../tables.ts';
import { runWithNext } from '../engine/with-next.ts';

const ofAccount = orders.without('accountId');
const orderFrom: (row: Parameters<typeof ofAccount.read>[0]) => Order = ofAccount.read;

export class KyselyOrders extends AggregateStore implements Orders {
  readonly #pets: KyselyPets;
  readonly #lists = listings(this.database, (db) =>
    db.selectFrom('orders').select(ofAccount.names),
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
      .select(ofAccount.names)
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .$call(this.database.engine.locked)
      .executeTakeFirst();
    if (!row) throw orderNotFound(id);
    return orderFrom(row);
  }
}

import type { Selectable } from 'kysely';
import { orderNotFound } from '../../../catalogue/domain/catalogue-error.ts';
import type { CatalogueEvent } from '../../../catalogue/domain/catalogue-event.ts';
import {
  orderStatuses,
  type Order,
  type OrderId,
  type OrderStatus,
  type Sale,
} from '../../../catalogue/domain/order.ts';
import type { Pet, PetId } from '../../../catalogue/domain/pet.ts';
import type { Orders, Page, PageBack } from '../../../catalogue/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import type { Database } from '../database.ts';
import { TellingStore } from '../telling-store.ts';
import { listings } from './listings.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import type { KyselyPets } from './kysely-pets.ts';
import { fromMillis, oneOf, toMillis, type RowOf, type Schema } from '../schema.ts';
import { runWithNext } from '../engine/with-next.ts';

type OrderRow = Omit<Selectable<Schema['orders']>, 'account_id'>;

const columns = ['id', 'pet_id', 'quantity', 'ship_date', 'status'] as const;

export class KyselyOrders extends TellingStore implements Orders {
  readonly #pets: KyselyPets;
  readonly #lists = listings(this.database, (db) => db.selectFrom('orders').select(columns));

  constructor(database: Database, outbox: KyselyOutbox, pets: KyselyPets) {
    super(database, outbox);
    this.#pets = pets;
  }

  async list(accountId: string, page: Page): Promise<readonly Order[]> {
    return (await this.#lists.list(accountId, page)).map(fromRow);
  }

  async newest(
    accountId: string,
    page: PageBack,
    status: OrderStatus | undefined,
  ): Promise<readonly Order[]> {
    return (await this.#lists.newest(accountId, page, status)).map(fromRow);
  }

  place(
    accountId: string,
    petId: PetId,
    decide: (pet: Pet) => Decision<Sale, CatalogueEvent>,
  ): Promise<Order> {
    return this.database.transaction(async (db) => {
      const { state, events } = decide(await this.#pets.lock(accountId, petId));
      const { pet, order } = state;
      await this.#pets.save(pet);
      const row = { ...toRow(order), account_id: accountId };
      const inserted = await db.insertInto('orders').values(row).executeTakeFirstOrThrow();
      const id = this.database.engine.insertedId(inserted);
      await this.outbox.append(events);
      return { id, ...order };
    });
  }

  change(
    accountId: string,
    id: OrderId,
    decide: (order: Order) => Decision<Order, CatalogueEvent>,
  ): Promise<Order> {
    return this.database.transaction(async (db) => {
      const row = await db
        .selectFrom('orders')
        .select(columns)
        .where('id', '=', id)
        .where('account_id', '=', accountId)
        .$call(this.database.engine.locked)
        .executeTakeFirst();
      if (!row) throw orderNotFound(id);
      const { state, events } = decide(fromRow(row));
      await runWithNext(db, db.updateTable('orders').set(toRow(state)).where('id', '=', id));
      await this.outbox.append(events);
      return state;
    });
  }
}

const toRow = ({ petId, quantity, shipDate, status }: Omit<Order, 'id'>) =>
  ({
    pet_id: petId,
    quantity: BigInt(quantity),
    ship_date: toMillis(shipDate),
    status,
  }) satisfies RowOf<Omit<Order, 'id'>>;

const fromRow = ({ id, pet_id, quantity, ship_date, status }: OrderRow): Order =>
  ({
    id,
    petId: pet_id,
    quantity: Number(quantity),
    shipDate: fromMillis(ship_date),
    status: oneOf(orderStatuses, status),
  }) satisfies EveryField<Order>;

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
import { largestInt64, type Pet, type PetId } from '../../../catalogue/domain/pet.ts';
import { Orders, type Page, type PageBack } from '../../../catalogue/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import type { Database } from '../database.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import type { KyselyPets } from './kysely-pets.ts';
import { fromMillis, oneOf, toMillis, type RowOf, type Schema } from '../schema.ts';
import { runWithNext } from '../engine/with-next.ts';

type OrderRow = Omit<Selectable<Schema['orders']>, 'account_id'>;

type PageBackOf = Readonly<{ accountId: string; upTo: bigint; limit: number }>;

const columns = ['id', 'pet_id', 'quantity', 'ship_date', 'status'] as const;

export class KyselyOrders extends Orders {
  readonly #database: Database;
  readonly #outbox: KyselyOutbox;
  readonly #pets: KyselyPets;
  readonly #list;
  readonly #newestOfAll;
  readonly #newestByStatus;

  constructor(database: Database, outbox: KyselyOutbox, pets: KyselyPets) {
    super();
    this.#database = database;
    this.#outbox = outbox;
    this.#pets = pets;
    this.#list = database.prepare<{ accountId: string; after: bigint; limit: number }, OrderRow>(
      (db, the) =>
        db
          .selectFrom('orders')
          .select(columns)
          .where('account_id', '=', the('accountId'))
          .where('id', '>', the('after'))
          .orderBy('id')
          .limit(the('limit')),
    );
    this.#newestOfAll = database.prepare<PageBackOf, OrderRow>((db, the) =>
      db
        .selectFrom('orders')
        .select(columns)
        .where('account_id', '=', the('accountId'))
        .where('id', '<=', the('upTo'))
        .orderBy('id', 'desc')
        .limit(the('limit')),
    );
    this.#newestByStatus = database.prepare<PageBackOf & { status: string }, OrderRow>((db, the) =>
      db
        .selectFrom('orders')
        .select(columns)
        .where('account_id', '=', the('accountId'))
        .where('status', '=', the('status'))
        .where('id', '<=', the('upTo'))
        .orderBy('id', 'desc')
        .limit(the('limit')),
    );
  }

  async list(accountId: string, { after, limit }: Page): Promise<readonly Order[]> {
    return (await this.#list({ accountId, after, limit })).map(fromRow);
  }

  async newest(
    accountId: string,
    { before, limit }: PageBack,
    status: OrderStatus | undefined,
  ): Promise<readonly Order[]> {
    const upTo = before === undefined ? largestInt64 : before - 1n;
    const rows =
      status === undefined
        ? await this.#newestOfAll({ accountId, upTo, limit })
        : await this.#newestByStatus({ accountId, upTo, limit, status });
    return rows.map(fromRow);
  }

  place(
    accountId: string,
    petId: PetId,
    decide: (pet: Pet) => Decision<Sale, CatalogueEvent>,
  ): Promise<Order> {
    return this.#database.transaction(async (db) => {
      const { state, events } = decide(await this.#pets.lock(accountId, petId));
      const { pet, order } = state;
      await this.#pets.save(pet);
      const row = { ...toRow(order), account_id: accountId };
      const id = await this.#database.engine.insertedId(db.insertInto('orders').values(row));
      await this.#outbox.append(events);
      return { id, ...order };
    });
  }

  change(
    accountId: string,
    id: OrderId,
    decide: (order: Order) => Decision<Order, CatalogueEvent>,
  ): Promise<Order> {
    return this.#database.transaction(async (db) => {
      const row = await db
        .selectFrom('orders')
        .select(columns)
        .where('id', '=', id)
        .where('account_id', '=', accountId)
        .$call(this.#database.engine.locked)
        .executeTakeFirst();
      if (!row) throw orderNotFound(id);
      const { state, events } = decide(fromRow(row));
      await runWithNext(db, db.updateTable('orders').set(toRow(state)).where('id', '=', id));
      await this.#outbox.append(events);
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

import { orderNotFound } from '../../src/catalogue/domain/catalogue-error.ts';
import type { CatalogueEvent } from '../../src/catalogue/domain/catalogue-event.ts';
import type { Order, OrderId, OrderStatus, Sale } from '../../src/catalogue/domain/order.ts';
import type { Pet, PetId } from '../../src/catalogue/domain/pet.ts';
import { Orders, type Page, type PageBack } from '../../src/catalogue/ports.ts';
import type { Decision } from '../../src/kernel/decision.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import type { MemoryPets } from './memory-pets.ts';

export class MemoryOrders extends Orders {
  readonly #outbox: MemoryOutbox;
  readonly #pets: MemoryPets;
  readonly #orders = new Map<OrderId, { readonly accountId: string; readonly order: Order }>();

  constructor(outbox: MemoryOutbox, pets: MemoryPets) {
    super();
    this.#outbox = outbox;
    this.#pets = pets;
  }

  override list(accountId: string, { after, limit }: Page): Promise<readonly Order[]> {
    const found = this.#of(accountId).filter((order) => order.id > after);
    return Promise.resolve(structuredClone(found.slice(0, limit)));
  }

  override newest(
    accountId: string,
    { before, limit }: PageBack,
    status: OrderStatus | undefined,
  ): Promise<readonly Order[]> {
    const found = this.#of(accountId)
      .filter((order) => before === undefined || order.id < before)
      .filter((order) => status === undefined || order.status === status)
      .reverse();
    return Promise.resolve(structuredClone(found.slice(0, limit)));
  }

  override async place(
    accountId: string,
    petId: PetId,
    decide: (pet: Pet) => Decision<Sale, CatalogueEvent>,
  ): Promise<Order> {
    await Promise.resolve();
    const { state, events } = decide(this.#pets.get(accountId, petId));
    const order = { id: BigInt(this.#orders.size + 1), ...state.order };
    this.#pets.save(accountId, state.pet, events);
    this.#orders.set(order.id, { accountId, order: structuredClone(order) });
    return order;
  }

  override async change(
    accountId: string,
    id: OrderId,
    decide: (order: Order) => Decision<Order, CatalogueEvent>,
  ): Promise<Order> {
    await Promise.resolve();
    const kept = this.#orders.get(id);
    if (kept?.accountId !== accountId) throw orderNotFound(id);
    const { state, events } = decide(structuredClone(kept.order));
    this.#orders.set(id, { accountId, order: structuredClone(state) });
    this.#outbox.append(events);
    return state;
  }

  /** In ascending order of id. */
  #of(accountId: string): Order[] {
    return [...this.#orders.values()]
      .filter((kept) => kept.accountId === accountId)
      .map(({ order }) => order);
  }
}

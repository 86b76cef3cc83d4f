import type { Clock } from '../kernel/ports.ts';
import type { Decision } from '../kernel/decision.ts';
import type { CatalogueEvent } from './domain/catalogue-event.ts';
import type { Order, OrderId, OrderStatus, Sale } from './domain/order.ts';
import type { Pet, PetDraft, PetId, PetStatus } from './domain/pet.ts';

export interface Page {
  /** Only what has a higher id; 0n for the first page. */
  readonly after: bigint;
  readonly limit: number;
}

export interface PageBack {
  /** Only what has a lower id; undefined for the newest. */
  readonly before: bigint | undefined;
  readonly limit: number;
}

export const petOrders = ['newest', 'oldest', 'name'] as const;
export type PetOrder = (typeof petOrders)[number];

export interface PetSearch {
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
  /** How the name begins, compared as `searchedName` does. The animals are then in the order of their names. */
  readonly beginning?: string | undefined;
  readonly order: PetOrder;
  /** Only those after this one in the order, which need not exist any more. */
  readonly after?: Pick<Pet, 'id' | 'name'> | undefined;
  readonly limit: number;
}

/** One account's animals. Another account's do not exist here. */
export abstract class Pets {
  /** By id ascending. */
  abstract list(
    accountId: string,
    page: Page,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]>;

  /** As fast among a million animals as among ten, whatever is asked for. */
  abstract search(accountId: string, search: PetSearch): Promise<readonly Pet[]>;

  abstract find(accountId: string, id: PetId): Promise<Pet | undefined>;

  /** In no order; what there is not is left out. @param ids a page of them, not thousands */
  abstract findSome(accountId: string, ids: readonly PetId[]): Promise<readonly Pet[]>;

  /** Assigns the id, decides, stores animal and events together. `decide` is synchronous. */
  abstract add(
    accountId: string,
    draft: PetDraft,
    decide: (id: PetId) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet>;

  /** As `add`, for thousands at once: all of them or none. */
  abstract addAll(
    accountId: string,
    drafts: readonly PetDraft[],
    decide: (id: PetId, draft: PetDraft) => Decision<Pet, CatalogueEvent>,
  ): Promise<void>;

  /**
   * Locks, decides, stores state and events together. `decide` is synchronous: no I/O while the row is held.
   * @throws DomainError `pet_not_found`
   */
  abstract change(
    accountId: string,
    id: PetId,
    decide: (pet: Pet) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet>;

  /** Locks, decides, forgets the animal and stores the events together. @throws DomainError `pet_not_found` */
  abstract remove(
    accountId: string,
    id: PetId,
    decide: (pet: Pet) => readonly CatalogueEvent[],
  ): Promise<void>;
}

export abstract class Orders {
  /** By id ascending. */
  abstract list(accountId: string, page: Page): Promise<readonly Order[]>;

  /** By id descending. */
  abstract newest(
    accountId: string,
    page: PageBack,
    status: OrderStatus | undefined,
  ): Promise<readonly Order[]>;

  abstract find(accountId: string, id: OrderId): Promise<Order | undefined>;

  /** The order that the sale of this animal made. */
  abstract findOf(accountId: string, petId: PetId): Promise<Order | undefined>;

  /** Locks the animal, decides, stores animal, new order and events together. @throws DomainError `pet_not_found` */
  abstract place(
    accountId: string,
    petId: PetId,
    decide: (pet: Pet) => Decision<Sale, CatalogueEvent>,
  ): Promise<Order>;

  /** @throws DomainError `order_not_found` */
  abstract change(
    accountId: string,
    id: OrderId,
    decide: (order: Order) => Decision<Order, CatalogueEvent>,
  ): Promise<Order>;
}

export interface CataloguePorts {
  readonly pets: Pets;
  readonly orders: Orders;
  readonly clock: Clock;
}

import type { Clock } from '../kernel/ports.ts';
import type { Decision } from '../kernel/decision.ts';
import type { CatalogueEvent } from './domain/catalogue-event.ts';
import type { Order, OrderId, OrderStatus, Sale } from './domain/order.ts';
import type { Pet, PetDraft, PetId, PetStatus } from './domain/pet.ts';

export interface Page {
  /** Returns only higher ids; 0n for the first page. */
  readonly after: bigint;
  readonly limit: number;
}

export interface PageBack {
  /** Returns only lower ids; undefined for the newest. */
  readonly before: bigint | undefined;
  readonly limit: number;
}

export const petOrders = ['newest', 'oldest', 'name'] as const;
export type PetOrder = (typeof petOrders)[number];

export interface PetSearch {
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
  /** The beginning of the name, compared as in `searchedName`. Results are then sorted by name. */
  readonly beginning?: string | undefined;
  readonly order: PetOrder;
  /** Returns only animals after this one in the order. It need not exist any more. */
  readonly after?: Pick<Pet, 'id' | 'name'> | undefined;
  readonly limit: number;
}

/** The animals of each account. Animals of other accounts are never found. */
export abstract class Pets {
  /** Lists by ascending id. */
  abstract list(
    accountId: string,
    page: Page,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]>;

  /** Searches as fast among a million animals as among ten, for every combination of criteria. */
  abstract search(accountId: string, search: PetSearch): Promise<readonly Pet[]>;

  abstract find(accountId: string, id: PetId): Promise<Pet | undefined>;

  /** Finds animals in any order, without missing ones. @param ids a page of them, not thousands */
  abstract findSome(accountId: string, ids: readonly PetId[]): Promise<readonly Pet[]>;

  /** Assigns the id, decides, and saves animal and events together. `decide` is synchronous. */
  abstract add(
    accountId: string,
    draft: PetDraft,
    decide: (id: PetId) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet>;

  /** Like `add`, for thousands at once: all of them or none. */
  abstract addAll(
    accountId: string,
    drafts: readonly PetDraft[],
    decide: (id: PetId, draft: PetDraft) => Decision<Pet, CatalogueEvent>,
  ): Promise<void>;

  /**
   * Locks, decides, and saves animal and events together. `decide` is synchronous: no I/O while the row is held.
   * @throws DomainError `pet_not_found`
   */
  abstract change(
    accountId: string,
    id: PetId,
    decide: (pet: Pet) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet>;

  /** Locks, decides, deletes the animal and saves the events together. @throws DomainError `pet_not_found` */
  abstract remove(
    accountId: string,
    id: PetId,
    decide: (pet: Pet) => readonly CatalogueEvent[],
  ): Promise<void>;
}

export abstract class Orders {
  /** Lists by ascending id. */
  abstract list(accountId: string, page: Page): Promise<readonly Order[]>;

  /** Lists by descending id. */
  abstract newest(
    accountId: string,
    page: PageBack,
    status: OrderStatus | undefined,
  ): Promise<readonly Order[]>;

  abstract find(accountId: string, id: OrderId): Promise<Order | undefined>;

  /** Finds the order of this animal's sale. */
  abstract findOf(accountId: string, petId: PetId): Promise<Order | undefined>;

  /** Locks the animal, decides, and saves animal, new order and events together. @throws DomainError `pet_not_found` */
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

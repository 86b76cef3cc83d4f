import { orderNotFound, petNotFound } from './domain/catalogue-error.ts';
import {
  approveOrder,
  deliverOrder,
  type Order,
  type OrderId,
  type OrderStatus,
  sellPet,
} from './domain/order.ts';
import {
  addPet,
  deletePet,
  editPet,
  type Pet,
  type PetChanges,
  type PetDraft,
  type PetId,
  type PetStatus,
  readId,
  releasePet,
  reservePet,
} from './domain/pet.ts';
import type { CataloguePorts, Page, PageBack, PetSearch } from './ports.ts';

/** Sells an animal. @throws DomainError `pet_not_found`, `pet_wrong_status`, `order_invalid` */
const placeOrder =
  ({ orders, clock }: Pick<CataloguePorts, 'orders' | 'clock'>) =>
  (
    accountId: string,
    petId: PetId,
    terms: { readonly quantity?: number; readonly shipDate?: Date } = {},
  ): Promise<Order> => {
    const now = clock.now();
    const { quantity = 1, shipDate = now } = terms;
    return orders.place(accountId, petId, (pet) =>
      sellPet(accountId, pet, { quantity, shipDate }, now),
    );
  };

/** An animal with the searched id comes first, before animals whose names match. */
const searchPets =
  ({ pets }: Pick<CataloguePorts, 'pets'>) =>
  async (accountId: string, search: PetSearch): Promise<readonly Pet[]> => {
    const found = await pets.search(accountId, search);
    // Pages show ids like `#12`.
    const id = search.after ? undefined : readId(search.beginning?.replace(/^#/, ''));
    const named = id === undefined ? undefined : await pets.find(accountId, id);
    if (!named || !passes(named, search)) return found;
    return [named, ...found.filter((pet) => pet.id !== named.id)].slice(0, search.limit);
  };

const passes = (pet: Pet, { status, categoryId }: PetSearch): boolean =>
  (status === undefined || pet.status === status) &&
  (categoryId === undefined || pet.categoryId === categoryId);

const petSteps = { reserve: reservePet, release: releasePet } as const;
const orderSteps = { approve: approveOrder, deliver: deliverOrder } as const;

export const catalogue = (ports: CataloguePorts) => ({
  listPets: (accountId: string, page: Page, status?: PetStatus) =>
    ports.pets.list(accountId, page, status),
  searchPets: searchPets(ports),
  /** @throws DomainError `pet_not_found` */
  getPet: async (accountId: string, id: PetId): Promise<Pet> => {
    const pet = await ports.pets.find(accountId, id);
    if (!pet) throw petNotFound(id);
    return pet;
  },
  findPets: (accountId: string, ids: readonly PetId[]) => ports.pets.findSome(accountId, ids),
  createPet: (accountId: string, draft: PetDraft) => {
    const now = ports.clock.now();
    return ports.pets.add(accountId, draft, (id) => addPet(accountId, id, draft, now));
  },
  /** Creates all animals or none. @throws DomainError `pet_invalid` */
  createPets: (accountId: string, drafts: readonly PetDraft[]) => {
    const now = ports.clock.now();
    return ports.pets.addAll(accountId, drafts, (id, draft) => addPet(accountId, id, draft, now));
  },
  /** @throws DomainError `pet_not_found`, `pet_invalid` */
  editPet: (accountId: string, id: PetId, changes: PetChanges) =>
    ports.pets.change(accountId, id, (pet) => editPet(accountId, pet, changes, ports.clock.now())),
  /** @throws DomainError `pet_not_found`, `pet_wrong_status` */
  deletePet: (accountId: string, id: PetId) =>
    ports.pets.remove(accountId, id, (pet) => deletePet(accountId, pet, ports.clock.now())),
  /** @throws DomainError `pet_not_found`, `pet_wrong_status` */
  changePet: (accountId: string, id: PetId, step: keyof typeof petSteps) =>
    ports.pets.change(accountId, id, (pet) => petSteps[step](accountId, pet, ports.clock.now())),
  placeOrder: placeOrder(ports),
  /** @throws DomainError `order_not_found`, `order_wrong_status` */
  changeOrder: (accountId: string, id: OrderId, step: keyof typeof orderSteps) =>
    ports.orders.change(accountId, id, (order) =>
      orderSteps[step](accountId, order, ports.clock.now()),
    ),
  listOrders: (accountId: string, page: Page) => ports.orders.list(accountId, page),
  /** @throws DomainError `order_not_found` */
  getOrder: async (accountId: string, id: OrderId): Promise<Order> => {
    const order = await ports.orders.find(accountId, id);
    if (!order) throw orderNotFound(id);
    return order;
  },
  orderOf: (accountId: string, petId: PetId) => ports.orders.findOf(accountId, petId),
  newestOrders: (accountId: string, page: PageBack, status?: OrderStatus) =>
    ports.orders.newest(accountId, page, status),
});

export type Catalogue = ReturnType<typeof catalogue>;

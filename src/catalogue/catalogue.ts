import { petNotFound } from './domain/catalogue-error.ts';
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
  type Pet,
  type PetDraft,
  type PetId,
  type PetStatus,
  releasePet,
  reservePet,
} from './domain/pet.ts';
import type { CataloguePorts, Page, PageBack } from './ports.ts';

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

const petSteps = { reserve: reservePet, release: releasePet } as const;
const orderSteps = { approve: approveOrder, deliver: deliverOrder } as const;

/** The animals and orders of a store. */
export const catalogue = (ports: CataloguePorts) => ({
  listPets: (accountId: string, page: Page, status?: PetStatus) =>
    ports.pets.list(accountId, page, status),
  newestPets: (accountId: string, page: PageBack, status?: PetStatus) =>
    ports.pets.newest(accountId, page, status),
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
  newestOrders: (accountId: string, page: PageBack, status?: OrderStatus) =>
    ports.orders.newest(accountId, page, status),
});

export type Catalogue = ReturnType<typeof catalogue>;

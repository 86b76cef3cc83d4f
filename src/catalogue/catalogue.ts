import type { OrderStatus } from './domain/order.ts';
import type { PetId, PetStatus } from './domain/pet.ts';
import type { CataloguePorts, Page, PageBack } from './ports.ts';
import { changeOrder } from './use-cases/change-order.ts';
import { changePet } from './use-cases/change-pet.ts';
import { createPet } from './use-cases/create-pet.ts';
import { getPet } from './use-cases/get-pet.ts';
import { placeOrder } from './use-cases/place-order.ts';

/** The animals and orders of a store. */
export const catalogue = (ports: CataloguePorts) => ({
  listPets: (accountId: string, page: Page, status?: PetStatus) =>
    ports.pets.list(accountId, page, status),
  newestPets: (accountId: string, page: PageBack, status?: PetStatus) =>
    ports.pets.newest(accountId, page, status),
  getPet: getPet(ports),
  findPets: (accountId: string, ids: readonly PetId[]) => ports.pets.findSome(accountId, ids),
  createPet: createPet(ports),
  changePet: changePet(ports),
  placeOrder: placeOrder(ports),
  changeOrder: changeOrder(ports),
  listOrders: (accountId: string, page: Page) => ports.orders.list(accountId, page),
  newestOrders: (accountId: string, page: PageBack, status?: OrderStatus) =>
    ports.orders.newest(accountId, page, status),
});

export type Catalogue = ReturnType<typeof catalogue>;

import { sellPet, type Order } from '../domain/order.ts';
import type { PetId } from '../domain/pet.ts';
import type { CataloguePorts } from '../ports.ts';

/** Sells an animal. @throws DomainError `pet_not_found`, `pet_wrong_status`, `order_invalid` */
export const placeOrder =
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

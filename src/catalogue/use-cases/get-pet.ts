import { petNotFound } from '../domain/catalogue-error.ts';
import type { Pet, PetId } from '../domain/pet.ts';
import type { CataloguePorts } from '../ports.ts';

/** @throws DomainError `pet_not_found` */
export const getPet =
  ({ pets }: Pick<CataloguePorts, 'pets'>) =>
  async (accountId: string, id: PetId): Promise<Pet> => {
    const pet = await pets.find(accountId, id);
    if (!pet) throw petNotFound(id);
    return pet;
  };

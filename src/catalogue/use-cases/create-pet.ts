import { addPet, type Pet, type PetDraft } from '../domain/pet.ts';
import type { CataloguePorts } from '../ports.ts';

export const createPet =
  ({ pets, clock }: Pick<CataloguePorts, 'pets' | 'clock'>) =>
  (accountId: string, draft: PetDraft): Promise<Pet> => {
    const now = clock.now();
    return pets.add(accountId, draft, (id) => addPet(accountId, id, draft, now));
  };

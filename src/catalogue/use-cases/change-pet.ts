import { releasePet, reservePet, type Pet, type PetId } from '../domain/pet.ts';
import type { CataloguePorts } from '../ports.ts';

const steps = { reserve: reservePet, release: releasePet } as const;

/** Reserve or release an animal. @throws DomainError `pet_not_found`, `pet_wrong_status` */
export const changePet =
  ({ pets, clock }: Pick<CataloguePorts, 'pets' | 'clock'>) =>
  (accountId: string, id: PetId, step: keyof typeof steps): Promise<Pet> =>
    pets.change(accountId, id, (pet) => steps[step](accountId, pet, clock.now()));

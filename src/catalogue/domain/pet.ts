import {
  refusedTransition,
  type Decision,
  type Transitions,
  DomainError,
} from '../../kernel/decision.ts';
import { isLine } from '../../kernel/text.ts';
import type { CatalogueErrorCode } from './catalogue-error.ts';
import type {
  PetAdded,
  PetChanged,
  PetDeleted,
  PetReleased,
  PetReserved,
} from './catalogue-event.ts';

/** From 1 to 9223372036854775807, assigned by the store in ascending order. */
export type PetId = bigint;

export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

/** The whole lifecycle; docs/lifecycles.md is printed from this table. */
export const petTransitions = {
  available: ['pending', 'sold'],
  pending: ['available', 'sold'],
  sold: [],
} as const satisfies Transitions<PetStatus>;

export interface PetDraft {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

export interface Pet extends PetDraft {
  readonly id: PetId;
}

export const largestInt64 = 9223372036854775807n;

/** Accepts only the exact digits from 1 to 9223372036854775807, without leading zeros. */
export const readId = (text: string | null | undefined): bigint | undefined => {
  if (!text || !/^[1-9]\d{0,18}$/.test(text)) return undefined;
  const id = BigInt(text);
  return id <= largestInt64 ? id : undefined;
};

export const petNameLength = { min: 1, max: 255 } as const;

export const isPetName = (name: string): boolean => isLine(name, petNameLength.max);

export const isCategoryId = (id: bigint): boolean => id >= 1n && id <= largestInt64;

const longestSearched = 100;

/**
 * The form of a name that searches compare, without case and the accents of Latin letters. Preserves common beginnings.
 */
export const searchedName = (name: string): string => {
  const folded = name
    // Ordering accents takes time quadratic in their number.
    .slice(0, 2 * petNameLength.max)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toUpperCase();
  return [...folded].slice(0, longestSearched).join('').trim();
};

/** @throws DomainError `pet_invalid` */
export const addPet = (
  accountId: string,
  id: PetId,
  draft: PetDraft,
  now: Date,
): Decision<Pet, PetAdded> => {
  checkFields(draft);
  return {
    state: { id, ...draft },
    events: [{ type: 'pet_added', accountId, occurredAt: now, petId: String(id) }],
  };
};

export type PetChanges = Pick<PetDraft, 'name' | 'categoryId'>;

/** Changes nothing if the values are the same. @throws DomainError `pet_invalid` */
export const editPet = (
  accountId: string,
  pet: Pet,
  { name, categoryId }: PetChanges,
  now: Date,
): Decision<Pet, PetChanged> => {
  checkFields({ name, categoryId });
  if (name === pet.name && categoryId === pet.categoryId) return { state: pet, events: [] };
  const about = { accountId, occurredAt: now, petId: String(pet.id) };
  return {
    state: { ...pet, name, categoryId },
    events: [{ type: 'pet_changed', ...about, name, categoryId: String(categoryId) }],
  };
};

/** Refuses to delete a sold animal, because it has an order. @throws DomainError `pet_wrong_status` */
export const deletePet = (accountId: string, pet: Pet, now: Date): readonly PetDeleted[] => {
  const { id, name, status } = pet;
  if (status === 'sold') {
    throw new DomainError<CatalogueErrorCode>(
      'pet_wrong_status',
      `Animal ${String(id)} is sold and cannot be deleted.`,
    );
  }
  return [{ type: 'pet_deleted', accountId, occurredAt: now, petId: String(id), name }];
};

const checkFields = ({ name, categoryId }: PetChanges): void => {
  if (isPetName(name) && isCategoryId(categoryId)) return;
  throw new DomainError<CatalogueErrorCode>(
    'pet_invalid',
    'An animal needs a name of 1 to 255 characters and a category id of at least 1.',
  );
};

export const reservePet = (accountId: string, pet: Pet, now: Date): Decision<Pet, PetReserved> => ({
  state: moved(pet, 'pending'),
  events: [{ type: 'pet_reserved', accountId, occurredAt: now, petId: String(pet.id) }],
});

export const releasePet = (accountId: string, pet: Pet, now: Date): Decision<Pet, PetReleased> => ({
  state: moved(pet, 'available'),
  events: [{ type: 'pet_released', accountId, occurredAt: now, petId: String(pet.id) }],
});

/** @throws DomainError `pet_wrong_status` if the table does not allow the step */
export const moved = (pet: Pet, status: PetStatus): Pet => {
  const problem = refusedTransition(petTransitions, `Animal ${String(pet.id)}`, pet.status, status);
  if (problem) throw new DomainError<CatalogueErrorCode>('pet_wrong_status', problem);
  return { ...pet, status };
};

import { DomainError } from '../../kernel/decision.ts';

export type CatalogueErrorCode =
  | 'pet_invalid'
  | 'pet_not_found'
  | 'pet_wrong_status'
  | 'order_not_found'
  | 'order_wrong_status'
  | 'order_invalid';

/** @param id as the caller wrote it */
export const petNotFound = (id: bigint | string): DomainError<CatalogueErrorCode> =>
  new DomainError('pet_not_found', `There is no animal with the id ${String(id)} in this store.`);

export const orderNotFound = (id: bigint): DomainError<CatalogueErrorCode> =>
  new DomainError('order_not_found', `There is no order with the id ${String(id)} in this store.`);

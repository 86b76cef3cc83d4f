import type { DomainEvent } from '../../kernel/decision.ts';

interface PetEvent<Type extends string> extends DomainEvent<Type> {
  /** Decimal digits of an int64. */
  readonly petId: string;
}

interface OrderEvent<Type extends string> extends DomainEvent<Type> {
  /** Decimal digits of an int64. */
  readonly orderId: string;
}

export type PetAdded = PetEvent<'pet_added'>;
export interface PetChanged extends PetEvent<'pet_changed'> {
  readonly name: string;
  /** Decimal digits of an int64. */
  readonly categoryId: string;
}
export interface PetDeleted extends PetEvent<'pet_deleted'> {
  readonly name: string;
}
export type PetReserved = PetEvent<'pet_reserved'>;
export type PetReleased = PetEvent<'pet_released'>;
export type PetSold = PetEvent<'pet_sold'>;
export type OrderApproved = OrderEvent<'order_approved'>;
export type OrderDelivered = OrderEvent<'order_delivered'>;

export type CatalogueEvent =
  | PetAdded
  | PetChanged
  | PetReserved
  | PetReleased
  | PetSold
  | PetDeleted
  | OrderApproved
  | OrderDelivered;

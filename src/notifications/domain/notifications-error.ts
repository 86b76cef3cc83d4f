import { DomainError } from '../../kernel/decision.ts';

export type NotificationsErrorCode =
  | 'webhook_delivery_not_found'
  | 'webhook_invalid'
  | 'webhook_limit_reached'
  | 'webhook_not_found'
  | 'webhook_off';

export const webhookNotFound = (id: string): DomainError<NotificationsErrorCode> =>
  new DomainError('webhook_not_found', `There is no webhook with the id ${id}.`);

export const webhookDeliveryNotFound = (id: string): DomainError<NotificationsErrorCode> =>
  new DomainError('webhook_delivery_not_found', `There is no delivery with the id ${id}.`);

export const webhookInvalid = (message: string): DomainError<NotificationsErrorCode> =>
  new DomainError('webhook_invalid', message);

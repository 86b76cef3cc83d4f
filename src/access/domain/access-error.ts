import { DomainError } from '../../kernel/domain-error.ts';

export type AccessErrorCode =
  | 'account_not_found'
  | 'account_invalid'
  | 'api_key_not_found'
  | 'api_key_invalid'
  | 'api_keys_full'
  | 'invalid_api_key';

export const accountNotFound = (id: string): DomainError<AccessErrorCode> =>
  new DomainError('account_not_found', `There is no account with the id ${id}.`);

export const apiKeyNotFound = (id: string): DomainError<AccessErrorCode> =>
  new DomainError('api_key_not_found', `There is no API key with the id ${id}.`);

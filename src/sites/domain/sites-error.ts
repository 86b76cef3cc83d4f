import { DomainError } from '../../kernel/domain-error.ts';

export type SitesErrorCode = 'account_not_found' | 'project_invalid' | 'slug_taken';

export const projectAccountNotFound = (accountId: string): DomainError<SitesErrorCode> =>
  new DomainError('account_not_found', `There is no account with the id ${accountId}.`);

export const slugTaken = (slug: string): DomainError<SitesErrorCode> =>
  new DomainError('slug_taken', `The name "${slug}" is taken; choose another.`);

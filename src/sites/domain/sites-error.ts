import { DomainError } from '../../kernel/domain-error.ts';

export type SitesErrorCode =
  | 'account_not_found'
  | 'deploy_not_found'
  | 'deploy_wrong_state'
  | 'project_invalid'
  | 'project_limit_reached'
  | 'project_not_found'
  | 'slug_reserved'
  | 'slug_taken'
  | UploadProblem
  | DomainNameProblem
  | 'domain_limit_reached'
  | 'domains_added_too_fast'
  | 'domain_not_found'
  | 'domain_taken'
  | 'domain_wrong_state'
  | 'no_successful_deploy'
  | 'plan_upgrade_required'
  | 'redirect_chain'
  | 'redirect_invalid'
  | 'redirect_loop'
  | 'redirect_unknown_domain'
  | 'reverify_too_early'
  | 'verify_too_early';

/** Why an upload is not published. */
export const uploadProblems = [
  'archive_unreadable',
  'archive_unsupported',
  'archive_unsafe_path',
  'archive_link',
  'archive_duplicate_path',
  'archive_too_many_entries',
  'archive_too_large',
  'archive_too_costly',
  'archive_without_index',
  'storage_full',
  'storage_quota_reached',
  'upload_interrupted',
] as const;
export type UploadProblem = (typeof uploadProblems)[number];

/** Why a name cannot be a custom domain. */
export const domainNameProblems = [
  'domain_name_invalid',
  'ip_literal',
  'name_reserved',
  'name_too_long',
  'public_suffix',
  'wildcard_unsupported',
] as const;
export type DomainNameProblem = (typeof domainNameProblems)[number];

export const projectAccountNotFound = (accountId: string): DomainError<SitesErrorCode> =>
  new DomainError('account_not_found', `There is no account with the id ${accountId}.`);

export const projectNotFound = (slug: string): DomainError<SitesErrorCode> =>
  new DomainError('project_not_found', `There is no project "${slug}".`);

export const domainNotFound = (name: string): DomainError<SitesErrorCode> =>
  new DomainError('domain_not_found', `There is no domain ${name} here.`);

export const domainTaken = (host: string): DomainError<SitesErrorCode> =>
  new DomainError(
    'domain_taken',
    `${host} is in use. Create the TXT record to prove that it is yours.`,
  );

export const slugTaken = (slug: string): DomainError<SitesErrorCode> =>
  new DomainError('slug_taken', `The name "${slug}" is taken; choose another.`);

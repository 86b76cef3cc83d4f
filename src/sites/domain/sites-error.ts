import { DomainError } from '../../kernel/decision.ts';

export type SitesErrorCode =
  | 'deploy_not_found'
  | 'deploy_wrong_state'
  | 'project_invalid'
  | 'project_limit_reached'
  | 'project_not_found'
  | 'project_not_restorable'
  | 'slug_invalid'
  | 'slug_reserved'
  | 'slug_taken'
  | UploadProblem
  | UploadRefusal;

export const uploadProblems = [
  'archive_unreadable',
  'archive_unsupported',
  'archive_unsafe_path',
  'archive_link',
  'archive_duplicate_path',
  'archive_too_many_entries',
  'archive_too_large',
  'archive_too_costly',
  'archive_unwanted',
  'archive_without_index',
  'storage_full',
  'storage_quota_reached',
  'upload_interrupted',
] as const;
export type UploadProblem = (typeof uploadProblems)[number];

/** Reasons to refuse an upload completely. Nothing of it is stored. */
export type UploadRefusal =
  | 'upload_ambiguous'
  | 'upload_busy'
  | 'upload_cut_off'
  | 'upload_missing'
  | 'upload_no_form'
  | 'upload_no_space'
  | 'upload_too_large'
  | 'upload_too_slow';

export const uploadRefused = (code: UploadRefusal, message: string): DomainError<SitesErrorCode> =>
  new DomainError(code, message);

export const projectNotFound = (slug: string): DomainError<SitesErrorCode> =>
  new DomainError('project_not_found', `There is no project "${slug}".`);

/** Only operators see it. */
export const projectDeleted = (slug: string, accountId: string): DomainError<SitesErrorCode> =>
  new DomainError(
    'project_not_found',
    `The project "${slug}" is deleted, or its account is. Its owner restores the project; you restore the account: ` +
      `account restore --account ${accountId}`,
  );

export const slugTaken = (slug: string): DomainError<SitesErrorCode> =>
  new DomainError('slug_taken', `The name "${slug}" is taken; choose another.`);

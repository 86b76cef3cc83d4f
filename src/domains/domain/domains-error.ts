import { DomainError } from '../../kernel/decision.ts';

export type DomainsErrorCode =
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
  | 'share_limit_reached'
  | 'share_unknown'
  | 'verify_too_early'
  | 'project_not_found';

export const domainNameProblems = [
  'domain_name_invalid',
  'ip_literal',
  'name_reserved',
  'name_too_long',
  'public_suffix',
  'wildcard_unsupported',
] as const;

export type DomainNameProblem = (typeof domainNameProblems)[number];

/** @param field the invalid field, if the owner gave several */
export const refusal = (
  code: DomainsErrorCode,
  message: string,
  field?: string,
): DomainError<DomainsErrorCode> => new DomainError(code, message, field);

export const domainNotFound = (name: string) =>
  refusal('domain_not_found', `There is no domain ${name} here.`);

export const shareUnknown = () => refusal('share_unknown', 'There is no such link.');

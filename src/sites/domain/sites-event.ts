import type { DomainEvent } from '../../kernel/decision.ts';

interface DeployEvent<Type extends string> extends DomainEvent<Type> {
  readonly projectId: string;
  readonly deployId: string;
}

interface NumberedEvent<Type extends string> extends DeployEvent<Type> {
  readonly number: number;
}

interface ProjectCreated extends DomainEvent<'project_created'> {
  readonly projectId: string;
  readonly slug: string;
}

export type DeploySucceeded = NumberedEvent<'deploy_succeeded'>;
export type DeployFailed = NumberedEvent<'deploy_failed'> & { readonly problem: string };
/** A deploy was deleted for good; its files are no longer needed. */
export type DeployDiscarded = DeployEvent<'deploy_discarded'>;
/** Its owner deleted a deploy, which made room. */
export type DeployDeleted = NumberedEvent<'deploy_deleted'>;

export type SitesEvent =
  | ProjectCreated
  | DeploySucceeded
  | DeployFailed
  /** An older deploy is served again. */
  | NumberedEvent<'site_rolled_back'>
  | DeployDiscarded
  | DeployDeleted;

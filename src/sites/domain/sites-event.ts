import type { DomainEvent } from '../../kernel/domain-event.ts';

export interface ProjectCreated extends DomainEvent<'project_created'> {
  readonly projectId: string;
  readonly slug: string;
}

export interface DeploySucceeded extends DomainEvent<'deploy_succeeded'> {
  readonly projectId: string;
  readonly deployId: string;
  readonly number: number;
}

export interface DeployFailed extends DomainEvent<'deploy_failed'> {
  readonly projectId: string;
  readonly deployId: string;
  readonly number: number;
  readonly problem: string;
}

/** An older deploy is served again. */
interface SiteRolledBack extends DomainEvent<'site_rolled_back'> {
  readonly projectId: string;
  readonly deployId: string;
  readonly number: number;
}

/** A deploy was deleted for good; its files are no longer needed. */
export interface DeployDiscarded extends DomainEvent<'deploy_discarded'> {
  readonly projectId: string;
  readonly deployId: string;
}

/** Its owner deleted a deploy, which made room. */
export interface DeployDeleted extends DomainEvent<'deploy_deleted'> {
  readonly projectId: string;
  readonly deployId: string;
  readonly number: number;
}

export type SitesEvent =
  | ProjectCreated
  | DeploySucceeded
  | DeployFailed
  | SiteRolledBack
  | DeployDiscarded
  | DeployDeleted;

import type { DomainEvent } from '../../kernel/decision.ts';

interface DeployEvent<Type extends string> extends DomainEvent<Type> {
  readonly projectId: string;
  readonly deployId: string;
}

interface NumberedEvent<Type extends string> extends DeployEvent<Type> {
  readonly number: number;
}

interface OfProject<Type extends string> extends DomainEvent<Type> {
  readonly projectId: string;
  readonly slug: string;
}

/** `slug` is the new slug; `from` is the previous one, if it changed. */
type ProjectRenamed = OfProject<'project_renamed'> & {
  readonly name: string;
  readonly from?: string;
};

/** The project can be restored before `until` (ISO 8601). */
type ProjectDeleted = OfProject<'project_deleted'> & {
  readonly name: string;
  readonly until: string;
};

export type DeploySucceeded = NumberedEvent<'deploy_succeeded'>;
export type DeployFailed = NumberedEvent<'deploy_failed'> & { readonly problem: string };
/** A deploy was deleted for good; its files are no longer needed. */
export type DeployDiscarded = DeployEvent<'deploy_discarded'>;
export type DeployDeleted = NumberedEvent<'deploy_deleted'>;

export type SitesEvent =
  | OfProject<'project_created'>
  | ProjectRenamed
  | ProjectDeleted
  | OfProject<'project_restored'>
  /** The project was not restored in time and is deleted with all its data. */
  | OfProject<'project_ended'>
  | DeploySucceeded
  | DeployFailed
  | NumberedEvent<'site_rolled_back'>
  | DeployDiscarded
  | DeployDeleted;

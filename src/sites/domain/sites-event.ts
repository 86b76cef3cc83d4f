import type { DomainEvent } from '../../kernel/domain-event.ts';

export interface ProjectCreated extends DomainEvent<'project_created'> {
  readonly projectId: string;
  readonly slug: string;
}

export type SitesEvent = ProjectCreated;

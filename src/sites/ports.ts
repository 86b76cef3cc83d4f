import type { Clock } from '../kernel/clock.ts';
import type { Decision } from '../kernel/decision.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Project } from './domain/project.ts';
import type { SitesEvent } from './domain/sites-event.ts';

export abstract class Projects {
  /** @throws DomainError `slug_taken` (by any account), `account_not_found` */
  abstract add(decision: Decision<Project, SitesEvent>): Promise<void>;

  /** Of one account, oldest first. */
  abstract list(accountId: string): Promise<readonly Project[]>;
}

export interface SitesPorts {
  readonly projects: Projects;
  readonly clock: Clock;
  readonly ids: Ids;
}

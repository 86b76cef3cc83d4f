import { DomainError } from '../../kernel/domain-error.ts';
import { createProject, slugOf, type Project } from '../domain/project.ts';
import type { SitesPorts } from '../ports.ts';

/** Finds a free slug for the name. @throws DomainError `project_invalid`, `account_not_found` */
export const startProject =
  ({ projects, clock, ids }: SitesPorts) =>
  async (accountId: string, name: string): Promise<Project> => {
    const wanted = slugOf(name);
    for (let number = 1; ; number++) {
      const slug = number === 1 ? wanted : `${wanted}-${String(number)}`;
      const draft = { id: ids.next('proj'), accountId, name, slug };
      const decision = createProject(draft, clock.now());
      try {
        await projects.add(decision);
        return decision.state;
      } catch (error) {
        if (!(error instanceof DomainError && error.code === 'slug_taken') || number >= 1000) {
          throw error;
        }
      }
    }
  };

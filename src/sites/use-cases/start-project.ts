import { DomainError } from '../../kernel/domain-error.ts';
import { admitProject, createProject, slugOf, type Project } from '../domain/project.ts';
import { isReservedSlug } from '../domain/reserved-slugs.ts';
import type { SitesPorts } from '../ports.ts';

/**
 * Finds a slug for the name that is free and not reserved.
 * @throws DomainError `project_invalid`, `project_limit_reached`, `account_not_found`
 */
export const startProject =
  ({
    projects,
    allowances,
    clock,
    ids,
  }: Pick<SitesPorts, 'projects' | 'allowances' | 'clock' | 'ids'>) =>
  async (accountId: string, name: string): Promise<Project> => {
    const allowance = await allowances.of(accountId);
    const wanted = slugOf(name);
    for (let number = isReservedSlug(wanted) ? 2 : 1; ; number++) {
      const slug = number === 1 ? wanted : `${wanted}-${String(number)}`;
      const draft = { id: ids.next('proj'), accountId, name, slug };
      try {
        return await projects.add(accountId, (current) => {
          const decision = createProject(draft, clock.now());
          admitProject(allowance, current);
          return decision;
        });
      } catch (error) {
        if (!(error instanceof DomainError && error.code === 'slug_taken') || number >= 1000) {
          throw error;
        }
      }
    }
  };

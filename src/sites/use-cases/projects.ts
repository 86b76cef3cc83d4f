import { DomainError } from '../../kernel/decision.ts';
import {
  admitProject,
  createProject,
  isReservedSlug,
  type Project,
  slugOf,
  type Allowance,
} from '../domain/project.ts';
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

export interface AccountUse {
  readonly allowance: Allowance;
  readonly projects: number;
  readonly storedBytes: number;
}

export const showUse =
  ({ projects, allowances }: Pick<SitesPorts, 'projects' | 'allowances'>) =>
  async (accountId: string): Promise<AccountUse> => {
    const [allowance, list, storedBytes] = await Promise.all([
      allowances.of(accountId),
      projects.list(accountId),
      projects.keptBytes(accountId),
    ]);
    return { allowance, projects: list.length, storedBytes };
  };

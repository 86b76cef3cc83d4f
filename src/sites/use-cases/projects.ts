import { DomainError } from '../../kernel/decision.ts';
import {
  admitProject,
  createProject,
  isReservedSlug,
  type Project,
  slugOf,
  type Allowance,
} from '../domain/project.ts';
import * as life from '../domain/project-life.ts';
import type { Site } from '../domain/site.ts';
import type { ProjectKey, SitesPorts } from '../ports.ts';
import { endedBefore } from '../../kernel/deletion.ts';

/** @throws DomainError `project_invalid`, `project_limit_reached`, `account_not_found`, `account_deleted` */
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

type Ports = Pick<SitesPorts, 'projects' | 'allowances' | 'clock'>;

/**
 * @param wanted omitted fields do not change
 * @throws DomainError `project_not_found`, `project_invalid`, `slug_invalid`, `slug_reserved`, `slug_taken`
 */
export const renameProject =
  ({ projects, clock }: Ports) =>
  (key: ProjectKey, wanted: { readonly name?: string; readonly slug?: string }): Promise<Site> =>
    projects.change(key, (site) =>
      life.renameProject(site, { ...site.project, ...wanted }, clock.now()),
    );

/** @throws DomainError `project_not_found` */
export const deleteProject =
  ({ projects, clock }: Ports) =>
  (key: ProjectKey): Promise<Site> =>
    projects.change(key, (site) => life.deleteProject(site, clock.now()));

/** @throws DomainError `project_not_found`, `project_not_restorable`, `project_limit_reached` */
export const restoreProject =
  ({ projects, allowances, clock }: Ports) =>
  async (key: ProjectKey): Promise<Site> => {
    const allowance = await allowances.of(key.accountId);
    return projects.restore(key, (site, current) => {
      admitProject(allowance, current);
      return life.restoreProject(site, clock.now());
    });
  };

const batch = 100;

type EndPorts = Pick<SitesPorts, 'projects' | 'clock'>;

interface Ending {
  /** Removes the custom domains of a project for good. Another context owns them. */
  readonly endDomains: (projectId: string) => Promise<void>;
  readonly isStopping: () => boolean;
}

/**
 * Ends the projects that were not restored in time, and frees former addresses.
 * @returns the number of both together
 */
export const endOldProjects =
  ({ projects, clock }: EndPorts) =>
  async (ending: Ending): Promise<number> => {
    const now = clock.now();
    const freed = await projects.freeSlugs(now, batch);
    const old = await projects.deletedBefore(endedBefore(now), batch);
    return freed + (await endAll({ projects, clock }, old, ending));
  };

/** Permanently removes every project of an account. @returns the number of removed projects */
export const endProjectsOf =
  (ports: EndPorts) =>
  async (accountId: string, ending: Ending): Promise<number> =>
    endAll(ports, await ports.projects.listAll(accountId), ending);

const endAll = async (
  { projects, clock }: EndPorts,
  all: readonly Project[],
  { endDomains, isStopping }: Ending,
): Promise<number> => {
  let ended = 0;
  for (const { id } of all) {
    if (isStopping()) break;
    await endDomains(id);
    const now = clock.now();
    await projects.end(id, now, (site) => life.endProject(site, now));
    ended += 1;
  }
  return ended;
};

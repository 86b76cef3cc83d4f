import { lastDeletedFirst } from './domain/project-life.ts';
import { projectDeleted, projectNotFound } from './domain/sites-error.ts';
import { deleteDeploy, giveUpUpload, rollBack, type Site } from './domain/site.ts';
import type { ProjectKey, SitesPorts, StoredFile } from './ports.ts';
import {
  beginDeploy,
  deploySite,
  finishDeploy,
  giveUpCutOffUploads,
  uploadsCutOffAt,
} from './use-cases/deploy-site.ts';
import {
  deleteProject,
  endOldProjects,
  endProjectsOf,
  renameProject,
  restoreProject,
  showUse,
  startProject,
} from './use-cases/projects.ts';

const siteOf =
  ({ projects }: Pick<SitesPorts, 'projects'>) =>
  async ({ accountId, slug }: ProjectKey): Promise<Site> => {
    const site = await projects.find(slug);
    if (site?.project.accountId !== accountId) throw projectNotFound(slug);
    return site;
  };

export const sites = (ports: SitesPorts) => ({
  /** The site of a project of the account. @throws DomainError `project_not_found` */
  siteOf: siteOf(ports),
  /** @throws DomainError `project_not_found`, also for another account's */
  projectIdOf: async (accountId: string, slug: string): Promise<string> =>
    (await siteOf(ports)({ accountId, slug })).project.id,
  startProject: startProject(ports),
  listProjects: (accountId: string) => ports.projects.list(accountId),
  listSites: (accountId: string) => ports.projects.listSites(accountId),
  /** For operators: a project of any account. @throws DomainError `project_not_found` */
  getSite: async (slug: string): Promise<Site> => {
    const site = await ports.projects.find(slug);
    if (site) return site;
    const deletedOf = await ports.projects.accountOf(slug);
    throw deletedOf === undefined ? projectNotFound(slug) : projectDeleted(slug, deletedOf);
  },
  renameProject: renameProject(ports),
  deleteProject: deleteProject(ports),
  restoreProject: restoreProject(ports),
  listDeletedProjects: async (accountId: string) =>
    lastDeletedFirst(await ports.projects.listAll(accountId)),
  listAllProjects: (accountId: string) => ports.projects.listAll(accountId),
  endsDueAt: () => ports.projects.firstEnd(),
  endOldProjects: endOldProjects(ports),
  endProjectsOf: endProjectsOf(ports),
  beginDeploy: beginDeploy(ports),
  finishDeploy: finishDeploy(ports),
  deploySite: deploySite(ports),
  /** Fails an upload whose process died. @throws DomainError `project_not_found` */
  giveUpDeploy: (project: ProjectKey, deployId: string) =>
    ports.projects.change(project, (site) => giveUpUpload(site, deployId, ports.clock.now())),
  /** @throws DomainError `project_not_found`, `deploy_not_found`, `deploy_wrong_state` */
  rollBack: (project: ProjectKey, number: number) =>
    ports.projects.change(project, (site) => rollBack(site, number, ports.clock.now())),
  /** @throws DomainError `project_not_found`, `deploy_not_found`, `deploy_wrong_state` */
  deleteDeploy: (project: ProjectKey, number: number) =>
    ports.projects.change(project, (site) => deleteDeploy(site, number, ports.clock.now())),
  /** The files of a succeeded deploy, by path; empty if the storage does not have the deploy. @throws Unavailable */
  listFiles: async (deployId: string): Promise<readonly StoredFile[]> =>
    (await ports.files.list(deployId))?.toSorted((one, other) =>
      one.path < other.path ? -1 : 1,
    ) ?? [],
  showUse: showUse(ports),
  countDeploys: () => ports.projects.countDeploys(),
  giveUpCutOffUploads: giveUpCutOffUploads(ports),
  uploadsCutOffAt: uploadsCutOffAt(ports),
  removeDeployFiles: (deployId: string) => ports.files.remove(deployId),
});

export type Sites = ReturnType<typeof sites>;

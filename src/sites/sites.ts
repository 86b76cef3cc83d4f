import { projectNotFound } from './domain/sites-error.ts';
import { rollBack, type Site } from './domain/site.ts';
import type { SitesPorts } from './ports.ts';
import { deploySite } from './use-cases/deploy-site.ts';
import { giveUpCutOffUploads } from './use-cases/give-up-uploads.ts';
import { secureSites } from './use-cases/secure-sites.ts';
import { startProject } from './use-cases/start-project.ts';

/** What an account publishes. */
export const sites = (ports: SitesPorts) => ({
  startProject: startProject(ports),
  listProjects: (accountId: string) => ports.projects.list(accountId),
  /** @throws DomainError `project_not_found` */
  getSite: async (slug: string): Promise<Site> => {
    const site = await ports.projects.find(slug);
    if (!site) throw projectNotFound(slug);
    return site;
  },
  deploySite: deploySite(ports),
  /** @throws DomainError `project_not_found`, `deploy_not_found`, `deploy_wrong_state` */
  rollBack: (project: { readonly accountId: string; readonly slug: string }, number: number) =>
    ports.projects.change(project, (site) => rollBack(site, number, ports.clock.now())),
  giveUpCutOffUploads: giveUpCutOffUploads(ports),
  secureSites: secureSites(ports),
  /** Removes the files of a deploy that is gone or failed; doing it twice is no error. */
  removeDeployFiles: (deployId: string) => ports.files.remove(deployId),
});

export type Sites = ReturnType<typeof sites>;

import type { CustomDomain } from '../domains/domain/attachment/custom-domain.ts';
import { cleanName } from '../domains/domain/names/hostname.ts';
import { domainNotFound, projectNotFound } from './domain/sites-error.ts';
import { deleteDeploy, rollBack, type Site } from './domain/site.ts';
import type { DomainPorts } from '../domains/ports.ts';
import type { SitesPorts } from './ports.ts';
import { addCustomDomain } from '../domains/use-cases/add-domain.ts';
import {
  changeDomainSettings,
  editDomainSettings,
  showDomainSettings,
} from '../domains/use-cases/domain-settings.ts';
import { adoptPrimary } from '../domains/use-cases/adopt-primary.ts';
import { deploySite } from './use-cases/deploy-site.ts';
import { showHolds } from '../domains/use-cases/domain-budget.ts';
import { giveUpCutOffUploads } from './use-cases/give-up-uploads.ts';
import { planRenewals } from '../domains/use-cases/plan-renewals.ts';
import { readWholeTimeline } from '../domains/use-cases/read-timeline.ts';
import { removeCustomDomain } from '../domains/use-cases/remove-domain.ts';
import { secureSites } from '../domains/use-cases/secure-sites.ts';
import { showOwnHold } from '../domains/use-cases/show-own-hold.ts';
import { showDomain } from '../domains/use-cases/show-domain.ts';
import { showUse } from './use-cases/show-use.ts';
import { startProject } from './use-cases/start-project.ts';
import { tendDomain } from '../domains/use-cases/tend-domain.ts';
import { verifyDomain } from '../domains/use-cases/verify-domain.ts';

interface ProjectKey {
  readonly accountId: string;
  readonly slug: string;
}

/** What an account publishes. */
export const sites = (ports: SitesPorts & DomainPorts) => ({
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
  rollBack: (project: ProjectKey, number: number) =>
    ports.projects.change(project, (site) => rollBack(site, number, ports.clock.now())),
  /** @throws DomainError `project_not_found`, `deploy_not_found`, `deploy_wrong_state` */
  deleteDeploy: (project: ProjectKey, number: number) =>
    ports.projects.change(project, (site) => deleteDeploy(site, number, ports.clock.now())),
  /** How much of its plan an account uses. */
  showUse: showUse(ports),
  giveUpCutOffUploads: giveUpCutOffUploads(ports),
  secureSites: secureSites(ports),
  showOwnHold: showOwnHold(ports),
  /** Removes the files of a deleted or failed deploy; doing it twice is no error. */
  removeDeployFiles: (deployId: string) => ports.files.remove(deployId),

  addDomain: addCustomDomain(ports),
  listDomains: (projectId: string) => ports.domains.list(projectId),
  /** The newest attachment of a name, unless the caller names an older one. @throws DomainError `domain_not_found` */
  getDomain: async (
    projectId: string,
    name: string,
    attachmentId?: string,
  ): Promise<CustomDomain> => {
    const host = ports.hostNames.read(cleanName(name)).ascii;
    const domain = await (attachmentId === undefined
      ? ports.domains.find(projectId, host)
      : ports.domains.get(attachmentId));
    if (domain?.projectId !== projectId || domain.host !== host) throw domainNotFound(name);
    return domain;
  },
  showDomain: showDomain(ports),
  showHolds: showHolds(ports),
  readWholeTimeline: readWholeTimeline(ports),
  verifyDomain: verifyDomain(ports),
  removeDomain: removeCustomDomain(ports),
  tendDomain: tendDomain(ports),
  planRenewals: planRenewals(ports),
  showDomainSettings: showDomainSettings(ports),
  adoptPrimary: adoptPrimary(ports),
  changeDomainSettings: changeDomainSettings(ports),
  editDomainSettings: editDomainSettings(ports),
});

export type Sites = ReturnType<typeof sites>;

import { CountingIds, SettableClock } from '../settable-clock.ts';
import { DirectUnpacking } from './direct-unpacking.ts';
import type { DomainEvent } from '../../../src/kernel/decision.ts';
import type { Deploy, Site } from '../../../src/sites/domain/site.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import type {
  Allowances,
  Projects,
  SiteFiles,
  SiteSource,
  UploadProgress,
} from '../../../src/sites/ports.ts';
import { deploySite } from '../../../src/sites/use-cases/deploy-site.ts';
import { newAccount, now } from '../accounts.ts';
import { allowance } from '../domains/known-domains.ts';
import { byOperator, newProject } from './sites.ts';
import type { Stores } from '../stores.ts';

/** One project with its site. Its deploys are dep_000001, dep_000002, … */
export interface SiteLab {
  readonly project: Project;
  readonly projects: Projects;
  readonly allowances: Allowances;
  readonly clock: SettableClock;
  readonly stores: Stores;
  /** @param other replaces ports of the site */
  readonly deploy: (
    source: SiteSource,
    onProgress?: (progress: UploadProgress) => void,
    other?: { readonly projects?: Projects; readonly project?: Project },
  ) => Promise<Deploy>;
  readonly site: () => Promise<Site>;
  /** Events since the project was created. */
  readonly events: () => Promise<readonly DomainEvent[]>;
}

/** @param storedBytes how much the account may store */
export const siteLab = async (
  stores: Stores,
  files: SiteFiles,
  storedBytes = allowance.storedBytes,
): Promise<SiteLab> => {
  const project = await newProject(stores, await newAccount(stores));
  const { length: before } = await stores.events();
  const clock = new SettableClock(now);
  const ids = new CountingIds();
  const unpacking = new DirectUnpacking(files, (source: SiteSource) => Promise.resolve(source));
  const allowances = { of: () => Promise.resolve({ ...allowance, plan: 'Free', storedBytes }) };
  return {
    project,
    stores,
    projects: stores.projects,
    allowances,
    clock,
    deploy: (source, onProgress, { projects = stores.projects, project: to = project } = {}) =>
      deploySite({ projects, files, unpacking, allowances, clock, ids })(
        to,
        { upload: source, ...byOperator },
        onProgress,
      ),
    site: async () => (await stores.projects.find(project.slug))!,
    events: async () => (await stores.events()).slice(before),
  };
};

import type { Decision } from '../../src/kernel/decision.ts';
import { deployStates, type DeployState } from '../../src/sites/domain/deploy.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import type { Site } from '../../src/sites/domain/site.ts';
import {
  projectAccountNotFound,
  projectNotFound,
  slugTaken,
} from '../../src/sites/domain/sites-error.ts';
import { keptBytes } from '../../src/sites/domain/storage-quota.ts';
import type { SitesEvent } from '../../src/sites/domain/sites-event.ts';
import { Projects, type DeployCounts } from '../../src/sites/ports.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import type { MemoryProjectRoutes } from './memory-project-routes.ts';
import { oldestFirst } from './oldest-first.ts';

export class MemoryProjects extends Projects {
  readonly #outbox: MemoryOutbox;
  readonly #routes: MemoryProjectRoutes;
  readonly #accountExists: (id: string) => Promise<boolean>;
  readonly #sites = new Map<string, Site>();

  constructor(
    outbox: MemoryOutbox,
    routes: MemoryProjectRoutes,
    accountExists: (id: string) => Promise<boolean>,
  ) {
    super();
    this.#outbox = outbox;
    this.#routes = routes;
    this.#accountExists = accountExists;
  }

  override async add(
    accountId: string,
    decide: (current: number) => Decision<Project, SitesEvent>,
  ): Promise<Project> {
    if (!(await this.#accountExists(accountId))) throw projectAccountNotFound(accountId);
    const { length } = this.#projects(({ project }) => project.accountId === accountId);
    const { state, events } = decide(length);
    if (this.#sites.has(state.slug)) throw slugTaken(state.slug);
    const project = structuredClone(state);
    this.#sites.set(state.slug, { project, deploys: [], servedDeployId: undefined, lastNumber: 0 });
    this.#routes.add(project);
    this.#outbox.append(events);
    return state;
  }

  override list(accountId: string): Promise<readonly Project[]> {
    const mine = this.#projects(({ project }) => project.accountId === accountId);
    return Promise.resolve(mine.sort(oldestFirst));
  }

  override find(slug: string): Promise<Site | undefined> {
    return Promise.resolve(structuredClone(this.#sites.get(slug)));
  }

  override async change(
    { accountId, slug }: { readonly accountId: string; readonly slug: string },
    decide: (site: Site) => Decision<Site, SitesEvent>,
  ): Promise<Site> {
    await Promise.resolve();
    const site = this.#sites.get(slug);
    if (site?.project.accountId !== accountId) throw projectNotFound(slug);
    const { state, events } = decide(structuredClone(site));
    const { deploys, servedDeployId, lastNumber } = structuredClone(state);
    if (servedDeployId !== site.servedDeployId) {
      if (servedDeployId === undefined)
        throw new Error(`${slug} was served and cannot cease to be`);
      const { id, createdAt } = site.project;
      // A deploy takes no route away, so the time does not matter.
      this.#routes.change(id, { servedDeployId }, createdAt);
    }
    this.#sites.set(slug, { project: site.project, deploys, servedDeployId, lastNumber });
    this.#outbox.append(events);
    return state;
  }

  override async changeKept(
    key: { readonly accountId: string; readonly slug: string },
    decide: (site: Site, elsewhere: number) => Decision<Site, SitesEvent>,
  ): Promise<Site> {
    return this.change(key, (site) => {
      const others = [...this.#sites.values()].filter(({ project }) => project.slug !== key.slug);
      return decide(site, bytesOf(others, key.accountId));
    });
  }

  override keptBytes(accountId: string): Promise<number> {
    return Promise.resolve(bytesOf([...this.#sites.values()], accountId));
  }

  override countDeploys(): Promise<DeployCounts> {
    const sites = [...this.#sites.values()];
    const deploys = sites.flatMap((site) => site.deploys);
    const count = (state: DeployState) => deploys.filter((one) => one.state === state).length;
    const counts = deployStates.map((state) => [state, count(state)]);
    return Promise.resolve({
      byState: Object.fromEntries(counts) as Record<DeployState, number>,
      keptBytes: sites.reduce((sum, site) => sum + keptBytes(site), 0),
    });
  }

  override withUploadsSince(before: Date, limit: number): Promise<readonly Project[]> {
    const cutOff = this.#projects(({ deploys }) =>
      deploys.some(({ state, startedAt }) => state === 'uploading' && startedAt < before),
    );
    return Promise.resolve(cutOff.slice(0, limit));
  }

  #projects(isWanted: (site: Site) => boolean): Project[] {
    const sites = [...this.#sites.values()].filter(isWanted);
    return structuredClone(sites.map(({ project }) => project));
  }
}

const bytesOf = (sites: readonly Site[], accountId: string): number =>
  sites
    .filter(({ project }) => project.accountId === accountId)
    .reduce((sum, site) => sum + keptBytes(site), 0);

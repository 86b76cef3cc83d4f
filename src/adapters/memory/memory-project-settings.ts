import type { Clock } from '../../kernel/clock.ts';
import { noDomainSettings, type DomainSettings } from '../../sites/domain/domain-settings.ts';
import type { ProjectHost } from '../../sites/domain/redirects.ts';
import { projectNotFound } from '../../sites/domain/sites-error.ts';
import { ProjectSettings } from '../../sites/domain-ports.ts';
import type { MemoryProjectRoutes } from './memory-project-routes.ts';

export class MemoryProjectSettings extends ProjectSettings {
  readonly #routes: MemoryProjectRoutes;
  readonly #clock: Clock;

  constructor(routes: MemoryProjectRoutes, clock: Clock) {
    super();
    this.#routes = routes;
    this.#clock = clock;
  }

  override read(projectId: string): Promise<DomainSettings> {
    const found = this.#routes.find(projectId)?.settings;
    return Promise.resolve(found ?? structuredClone(noDomainSettings));
  }

  override async change(
    projectId: string,
    decide: (settings: DomainSettings, hosts: readonly ProjectHost[]) => DomainSettings,
  ): Promise<DomainSettings> {
    await Promise.resolve();
    const project = this.#routes.find(projectId);
    if (!project) throw projectNotFound(projectId);
    const settings = decide(project.settings, project.hosts);
    this.#routes.change(projectId, { settings }, this.#clock.now());
    return settings;
  }
}

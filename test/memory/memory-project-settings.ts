import type { Clock } from '../../src/kernel/clock.ts';
import type { Decision } from '../../src/kernel/decision.ts';
import {
  noDomainSettings,
  type DomainSettings,
} from '../../src/domains/domain/redirects/settings.ts';
import { projectNotFound } from '../../src/sites/domain/sites-error.ts';
import type { DomainsEvent } from '../../src/domains/domain/domains-event.ts';
import { ProjectSettings, type SettingsFacts } from '../../src/domains/ports.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import type { MemoryProjectRoutes } from './memory-project-routes.ts';

export class MemoryProjectSettings extends ProjectSettings {
  readonly #outbox: MemoryOutbox;
  readonly #routes: MemoryProjectRoutes;
  readonly #clock: Clock;

  constructor(outbox: MemoryOutbox, routes: MemoryProjectRoutes, clock: Clock) {
    super();
    this.#outbox = outbox;
    this.#routes = routes;
    this.#clock = clock;
  }

  override read(projectId: string): Promise<DomainSettings> {
    const found = this.#routes.find(projectId)?.settings;
    return Promise.resolve(found ?? structuredClone(noDomainSettings));
  }

  override async change(
    projectId: string,
    decide: (
      settings: DomainSettings,
      facts: SettingsFacts,
    ) => Decision<DomainSettings, DomainsEvent>,
  ): Promise<DomainSettings> {
    await Promise.resolve();
    const project = this.#routes.find(projectId);
    if (!project) throw projectNotFound(projectId);
    const { settings, accountId, hosts } = project;
    const { state, events } = decide(settings, { accountId, hosts });
    this.#routes.change(projectId, { settings: state }, this.#clock.now());
    this.#outbox.append(events);
    return state;
  }
}

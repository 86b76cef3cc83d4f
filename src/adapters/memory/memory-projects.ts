import type { Decision } from '../../kernel/decision.ts';
import type { Project } from '../../sites/domain/project.ts';
import { projectAccountNotFound, slugTaken } from '../../sites/domain/sites-error.ts';
import type { SitesEvent } from '../../sites/domain/sites-event.ts';
import { Projects } from '../../sites/ports.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import { oldestFirst } from './oldest-first.ts';

export class MemoryProjects extends Projects {
  readonly #outbox: MemoryOutbox;
  readonly #accountExists: (id: string) => Promise<boolean>;
  readonly #projects = new Map<string, Project>();

  constructor(outbox: MemoryOutbox, accountExists: (id: string) => Promise<boolean>) {
    super();
    this.#outbox = outbox;
    this.#accountExists = accountExists;
  }

  override async add({ state, events }: Decision<Project, SitesEvent>): Promise<void> {
    if (!(await this.#accountExists(state.accountId)))
      throw projectAccountNotFound(state.accountId);
    if (this.#projects.has(state.slug)) throw slugTaken(state.slug);
    this.#projects.set(state.slug, structuredClone(state));
    this.#outbox.append(events);
  }

  override list(accountId: string): Promise<readonly Project[]> {
    const mine = [...this.#projects.values()].filter((one) => one.accountId === accountId);
    return Promise.resolve(structuredClone(mine.sort(oldestFirst)));
  }
}

import { noDomainSettings } from '../../src/domains/domain/redirects/settings.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import {
  routesOf,
  type Route,
  type RoutedProject,
} from '../../src/domains/domain/redirects/routes.ts';
import type { MemoryEdgeRecords } from './memory-edge-records.ts';

type Known = RoutedProject & Pick<Project, 'accountId' | 'name'>;
type Part = Partial<Pick<RoutedProject, 'servedDeployId' | 'hosts' | 'withheld' | 'settings'>>;

/**
 * The facts that decide the routes of each project. Like rows of a database they are shared: each adapter of this folder
 * changes its own part, and `routesOf` has the rule.
 */
export class MemoryProjectRoutes {
  readonly #edgeRecords: MemoryEdgeRecords;
  readonly #projects = new Map<string, Known>();

  constructor(edgeRecords: MemoryEdgeRecords) {
    this.#edgeRecords = edgeRecords;
  }

  add({ id: projectId, accountId, name, slug }: Project): void {
    const nothing = {
      servedDeployId: undefined,
      hosts: [],
      withheld: [],
      settings: noDomainSettings,
    };
    this.#projects.set(projectId, { projectId, accountId, name, slug, ...nothing });
  }

  find(projectId: string): Known | undefined {
    return structuredClone(this.#projects.get(projectId));
  }

  named(slug: string): Known | undefined {
    return structuredClone([...this.#projects.values()].find((one) => one.slug === slug));
  }

  /** In the same turn in which the adapter stores its state. */
  change(projectId: string, part: Part, now: Date): void {
    const before = this.#projects.get(projectId);
    if (!before) throw new Error(`project ${projectId} is missing`);
    const after = { ...before, ...structuredClone(part) };
    this.#projects.set(projectId, after);
    const present = new Map(routesOf(before).map((route) => [route.name, route]));
    for (const route of routesOf(after)) {
      if (!isSame(present.get(route.name), route)) this.#edgeRecords.setRoute(route);
      present.delete(route.name);
    }
    for (const name of present.keys()) this.#edgeRecords.removeRoute(name, now);
  }
}

const isSame = (one: Route | undefined, other: Route): boolean =>
  one !== undefined && JSON.stringify(one) === JSON.stringify(other);

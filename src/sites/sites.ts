import type { SitesPorts } from './ports.ts';
import { startProject } from './use-cases/start-project.ts';

/** What an account publishes. */
export const sites = (ports: SitesPorts) => ({
  startProject: startProject(ports),
  listProjects: (accountId: string) => ports.projects.list(accountId),
});

export type Sites = ReturnType<typeof sites>;

import type { Container } from 'inversify';
import { type CustomDomain, stateInWords } from '../../domains/domain/attachment/custom-domain.ts';
import type { Domains } from '../../domains/domains.ts';
import type { Project } from '../../sites/domain/project.ts';
import { AccessKey, DomainsKey, SitesKey } from '../keys.ts';
import { hostInWords, presentDomain, presentView } from './present-domain.ts';
import { type Define, type OutputOptions, print, table, withContainer } from './run-command.ts';

interface ListOptions extends OutputOptions {
  readonly project?: string;
}

interface ListedDomain {
  readonly domain: CustomDomain;
  readonly project: string;
}

/** Entries of the timeline that a list has of each domain: every check has all its answers with it. */
const lastEntries = 5;

export const domainList: Define = (command) => {
  command
    .description('list the domains of a project, newest first, or of all projects')
    .option('--project <slug>', 'slug of the project')
    .option(
      '--json',
      `print JSON: each as "show" does, with the last ${String(lastEntries)} entries of its timeline`,
    )
    .action(async (options: ListOptions) => {
      await withContainer(async (container) => {
        const listed = await listDomains(container, options.project);
        const details = options.json ? await present(container.get(DomainsKey), listed) : [];
        print(options, details, inColumns(listed));
      });
    });
};

const listDomains = async (
  container: Container,
  slug: string | undefined,
): Promise<readonly ListedDomain[]> => {
  const sites = container.get(SitesKey);
  const domains = container.get(DomainsKey);
  const projects =
    slug === undefined ? await allProjects(container) : [(await sites.getSite(slug)).project];
  const lists = await Promise.all(
    projects.map(async ({ id, slug: project }) =>
      (await domains.listDomains(id)).map((domain) => ({ domain, project })),
    ),
  );
  return lists.flat();
};

const allProjects = async (container: Container): Promise<readonly Project[]> => {
  const accounts = await container.get(AccessKey).listAccounts();
  const sites = container.get(SitesKey);
  return (await Promise.all(accounts.map(({ id }) => sites.listProjects(id)))).flat();
};

/** One after the other, because the list may be long and must not slow down the service. */
const present = async (
  domains: Domains,
  listed: readonly ListedDomain[],
): Promise<readonly object[]> => {
  const presented: object[] = [];
  for (const { domain, project } of listed) {
    const view = await domains.showDomain(domain);
    const latest = view.timeline.entries.slice(0, lastEntries);
    presented.push({ ...presentDomain(domain, project), ...presentView(view, latest) });
  }
  return presented;
};

const inColumns = (listed: readonly ListedDomain[]): string => {
  const rows = listed.map(({ domain, project }) => [
    hostInWords(domain),
    project,
    stateInWords(domain),
    domain.dns.report?.problems[0]?.code ?? '',
  ]);
  return table(['DOMAIN', 'PROJECT', 'STATE', 'PROBLEM'], rows, 'No domains yet.');
};

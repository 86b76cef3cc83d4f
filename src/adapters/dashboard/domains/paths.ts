import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { DashboardPorts } from '../ports.ts';
import { queryText } from '../frame/paths.ts';
import type { Visit } from '../frame/screen.ts';
import { siteOf } from '../projects/project-head.ts';

/** Where the pages of custom domains are; patterns of @koa/router have the same form. */
export const domainsPath = (slug: string): string => `/dashboard/projects/${slug}/settings/domains`;

/** @param host as A-labels */
export const domainPath = (slug: string, host: string): string => `${domainsPath(slug)}/${host}`;

/** Where a script asks for the other name of a pair. */
export const otherNamePath = '/dashboard/other-name';

/** One attachment of a host, also after the host was added again. */
export const attachmentPath = (slug: string, { host, id }: CustomDomain): string =>
  `${domainPath(slug, host)}${queryText({ attachment: id })}`;

/** What is decided about all domains of a project. */
export const settingPath = (
  slug: string,
  what: 'primary-domain' | 'redirects' | 'configuration',
): string => `/dashboard/projects/${slug}/settings/${what}`;

/** Query parameter that selects an attachment of the name; the newest one by default. */
export const attachmentIn = (query: URLSearchParams): string | undefined =>
  query.get('attachment') ?? undefined;

/** The domain of an address with its project, if they are the visitor's. @throws DomainError `project_not_found`, `domain_not_found` */
export const domainOf = async (
  { sites, domains }: Pick<DashboardPorts, 'sites' | 'domains'>,
  visit: Visit,
): Promise<{ readonly project: Project; readonly domain: CustomDomain }> => {
  const { project } = await siteOf({ sites }, visit);
  const name = visit.parameters['host'] ?? '';
  const domain = await domains.getDomain(project.id, name, attachmentIn(visit.query));
  return { project, domain };
};

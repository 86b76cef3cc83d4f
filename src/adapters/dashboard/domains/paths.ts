import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { DashboardPorts } from '../ports.ts';
import { type ListPlace, placeIn } from '../frame/list-parts.ts';
import type { Visit } from '../frame/screen.ts';
import { siteOf } from '../projects/project-head.ts';

/** These functions also make the patterns of @koa/router, because both have the same form. */
export const domainsPath = (slug: string): string => `/dashboard/projects/${slug}/settings/domains`;

/** @param key the domain's id; a name leads to its newest attachment */
export const domainPath = (slug: string, key: string): string => `${domainsPath(slug)}/${key}`;

export const redirectsPath = (slug: string): string =>
  `/dashboard/projects/${slug}/settings/redirects`;

export const otherNamePath = '/dashboard/other-name';

export const settingPath = (
  slug: string,
  what: 'primary-domain' | 'verify-domains' | 'remove-domains',
): string => `/dashboard/projects/${slug}/settings/${what}`;

export const placeOf = (
  query: URLSearchParams,
  more: Readonly<Record<string, string>> = {},
): ListPlace => placeIn(query, ['state', 'q', 'after'], more);

/**
 * Finds the domain of an address and its project, if the visitor may see them.
 * @throws DomainError `project_not_found`, `domain_not_found`
 */
export const domainOf = async (
  { sites, domains }: Pick<DashboardPorts, 'sites' | 'domains'>,
  visit: Visit,
): Promise<{ readonly project: Project; readonly domain: CustomDomain }> => {
  const { project } = await siteOf({ sites }, visit);
  const domain = await domains.getDomain(project.id, visit.parameters['domain'] ?? '');
  return { project, domain };
};

import { projectNotFound } from '../../../sites/domain/sites-error.ts';
import type { Site } from '../../../sites/domain/site.ts';
import type { Sites } from '../../../sites/sites.ts';
import type { Visit } from '../frame/screen.ts';

/** The project of a path, if it is the visitor's. @throws DomainError `project_not_found` */
export const siteOf = async (
  { sites }: { readonly sites: Pick<Sites, 'getSite'> },
  { parameters: { slug = '' }, accountId }: Visit,
): Promise<Site> => {
  const site = await sites.getSite(slug);
  if (site.project.accountId !== accountId) throw projectNotFound(slug);
  return site;
};

/** The same scheme and port: all names are served by the same edge. */
export const withHost = (siteUrl: string, host: string): string =>
  Object.assign(new URL(siteUrl), { hostname: host }).href;

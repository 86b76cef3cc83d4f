import type { Project } from '../../../sites/domain/project.ts';
import type { Site } from '../../../sites/domain/site.ts';
import type { Sites } from '../../../sites/sites.ts';
import { type Child, html, type Html } from '../frame/html.ts';
import { head, tabs } from '../frame/parts.ts';
import type { Visit } from '../frame/screen.ts';

const pages = [
  { name: 'overview', path: '', text: 'Overview' },
  { name: 'domains', path: '/settings/domains', text: 'Domains' },
  { name: 'redirects', path: '/settings/redirects', text: 'Redirects' },
  { name: 'settings', path: '/settings', text: 'Settings' },
] as const;

export const projectHead = (
  { name, slug }: Project,
  current: (typeof pages)[number]['name'],
  lead: Child,
): Html =>
  html`${head(name, lead, { trail: [['Projects', '/dashboard']] })}
  ${tabs(
    'Project',
    pages.map(({ name: page, path, text }) => ({
      to: `/dashboard/projects/${slug}${path}`,
      text,
      isHere: page === current,
    })),
  )}`;

export const settingsPath = (slug: string): string => `/dashboard/projects/${slug}/settings`;

/** Finds the project of a path, if the visitor may see it. @throws DomainError `project_not_found` */
export const siteOf = (
  { sites }: { readonly sites: Pick<Sites, 'siteOf'> },
  { parameters: { slug = '' }, accountId }: Visit,
): Promise<Site> => sites.siteOf({ accountId, slug });

/** Keeps the scheme and port, because one edge serves all names. */
export const withHost = (siteUrl: string, host: string): string =>
  Object.assign(new URL(siteUrl), { hostname: host }).href;

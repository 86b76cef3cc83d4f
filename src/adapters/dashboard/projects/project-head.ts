import type { Project } from '../../../sites/domain/project.ts';
import type { Site } from '../../../sites/domain/site.ts';
import { projectNotFound } from '../../../sites/domain/sites-error.ts';
import type { Sites } from '../../../sites/sites.ts';
import { type Child, html, type Html } from '../frame/html.ts';
import type { Visit } from '../frame/screen.ts';

const tabs = [
  { name: 'deploys', path: '', text: 'Deploys' },
  { name: 'domains', path: '/settings/domains', text: 'Domains' },
] as const;

export const projectHead = (
  { name, slug }: Project,
  current: (typeof tabs)[number]['name'],
  lead: Child,
): Html =>
  html`<div class="head">
    <nav aria-label="Breadcrumb"><ol class="row hint crumbs"><li><a href="/dashboard">Projects</a></li></ol></nav>
    <h1>${name}</h1>
    ${lead}
  </div>
  <nav class="tabs" aria-label="Project">
    ${tabs.map((tab) => html`<a href="/dashboard/projects/${slug}${tab.path}" ${tab.name === current && html`aria-current="page"`}>${tab.text}</a>`)}
  </nav>`;

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

import type { Project } from '../../../sites/domain/project.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { domainPath, domainsPath } from './paths.ts';
import { shownName, stateBadge } from './words.ts';
import { html, type Child, type Html } from '../frame/html.ts';

/** The way to a domain, its name and state. @param title where it is a page below that of the domain */
export const domainHead = (
  { name, slug }: Project,
  domain: CustomDomain,
  { title, actions }: { readonly title?: Child; readonly actions?: Child },
): Html =>
  html`<div class="head">
    <nav aria-label="Breadcrumb"><ol class="row hint crumbs">
      <li><a href="/dashboard">Projects</a></li>
      <li><a href="/dashboard/projects/${slug}">${name}</a></li>
      <li><a href="${domainsPath(slug)}">Domains</a></li>
      ${title !== undefined && html`<li><a href="${domainPath(slug, domain.host)}">${shownName(domain)}</a></li>`}
    </ol></nav>
    <div class="row">
      <h1>${title ?? shownName(domain)}</h1>
      ${title === undefined && stateBadge(domain)}
      <div class="row end">${actions}</div>
    </div>
  </div>`;

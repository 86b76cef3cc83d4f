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
  html`<div class="head domain-head">
    <nav aria-label="Breadcrumb"><ol class="crumbs">
      <li><a href="/dashboard">Projects</a></li>
      <li><a href="/dashboard/projects/${slug}">${name}</a></li>
      <li><a href="${domainsPath(slug)}">Domains</a></li>
      ${title !== undefined && html`<li><a href="${domainPath(slug, domain.host)}">${shownName(domain)}</a></li>`}
    </ol></nav>
    <div class="row middle">
      <h1>${title ?? shownName(domain)}</h1>
      ${title === undefined && stateBadge(domain)}
      <div class="row middle end">${actions}</div>
    </div>
  </div>`;

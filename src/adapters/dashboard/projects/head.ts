import type { Project } from '../../../sites/domain/project.ts';
import { html, type Child, type Html } from '../frame/html.ts';

const tabs = [
  { name: 'deploys', path: '', text: 'Deploys' },
  { name: 'domains', path: '/settings/domains', text: 'Domains' },
] as const;

/** The head of all pages of a project. */
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

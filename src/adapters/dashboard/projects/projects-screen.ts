import * as v from 'valibot';
import type { EveryField } from '../../../kernel/decision.ts';
import { slugOf, type Project, isReservedSlug } from '../../../sites/domain/project.ts';
import type { Site } from '../../../sites/domain/site.ts';
import type { DashboardPorts } from '../ports.ts';
import { filled } from '../frame/sent-form.ts';
import { html, type Html } from '../frame/html.ts';
import { field, formError, onceInput } from '../frame/form-parts.ts';
import { badge, day, empty, head } from '../frame/parts.ts';
import { form, refusalOf, type Refusal, type Screen, type Visit } from '../frame/screen.ts';

const path = '/dashboard';

const draft = v.object({
  name: v.pipe(
    filled('Give the project a name.'),
    v.maxLength(100, 'A name has at most 100 characters.'),
  ),
});

export const projectsScreen = (ports: DashboardPorts): Screen => {
  const { sites, ids, settings } = ports;
  return {
    path,
    section: 'projects',
    live: false,
    show: async ({ accountId }: Visit, refusal?: Refusal) => {
      const projects = await sites.listProjects(accountId);
      const found = await Promise.all(projects.map(({ slug }) => sites.getSite(slug)));
      return {
        title: 'Projects',
        content: html`
          ${head('Projects', 'Each project is one of your sites: upload it, then give it your own domain.')}
          ${found.length === 0 ? nothingYet : list(found, settings.siteUrl)}
          <section class="card">
            <h2>New project</h2>
            ${newProject(ids.next('form'), refusalOf(refusal, 'new-project'))}
          </section>`,
      };
    },
    forms: [
      form({
        name: 'new-project',
        operation: 'project.create',
        path,
        schema: draft,
        field: 'name',
        once: true,
        act: async ({ accountId }, { name }) => {
          const { slug } = await sites.startProject(accountId, name);
          const done = isReservedSlug(slugOf(name)) ? 'created-elsewhere' : 'created';
          return { to: `/dashboard/projects/${slug}`, done };
        },
      }),
    ],
  };
};

const nothingYet = empty(
  'No project yet',
  'A project holds one site with its deploys and domains. Start with a name, such as the name of your shop.',
);

/** The deploys and the served one share a line. */
type LeftOut = 'id' | 'deletedAt' | 'accountId' | 'project' | 'deploys' | 'lastNumber';

const list = (found: readonly Site[], siteUrl: (slug: string) => string): Html =>
  html`<ul class="columns cards">
    ${found.map((site) => {
      const { name, slug, createdAt } = site.project;
      const shown = {
        name: html`<h2><a class="cover" href="/dashboard/projects/${slug}">${name}</a></h2>`,
        slug: html`<p class="hint">${new URL(siteUrl(slug)).host}</p>`,
        createdAt: html`<p class="hint">created ${day(createdAt)}</p>`,
        servedDeployId: html`<p class="row">${standing(site)}</p>`,
      } satisfies Omit<EveryField<Project | Site>, LeftOut>;
      return html`<li class="card">${Object.values(shown)}</li>`;
    })}
  </ul>`;

const standing = ({ deploys: [newest], servedDeployId }: Site): Html =>
  html`${servedDeployId === undefined ? badge('not published', 'idle') : badge('published', 'good')}
    ${newest?.state === 'failed' && badge('last deploy failed', 'bad')}
    ${newest?.state === 'uploading' && badge('uploading', 'busy')}`;

const newProject = (once: string, refusal: Refusal | undefined): Html =>
  html`<form method="post" action="${path}" class="fields">
    ${formError(refusal)}
    ${onceInput(once)}
    ${field({ label: 'Project name', name: 'name', maxlength: 100, placeholder: 'Happy Paws' }, refusal)}
    <button class="main">New project</button>
  </form>`;

import * as v from 'valibot';
import { isAttached } from '../../../domains/domain/attachment/serving.ts';
import { bytesInWords } from '../../../kernel/text.ts';
import { keptBytes } from '../../../sites/domain/storage-quota.ts';
import type { Site } from '../../../sites/domain/site.ts';
import { field, formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { counted } from '../frame/parts.ts';
import { deletedPath } from '../frame/paths.ts';
import { form, type Form, type Refusal, refusalOf, type Screen } from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { configurationForm, configurationNotices, configurationSection } from './configuration.ts';
import { projectHead, settingsPath, siteOf } from './project-head.ts';

const path = settingsPath(':slug');

export const settingsScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
  live: false,
  notices: {
    ...configurationNotices,
    renamed: 'The project is renamed.',
    moved: 'The project has its new address. The one before leads to it for 90 days.',
  },
  show: async (visit, refusal) => {
    const site = await siteOf(ports, visit);
    const { id, slug, name } = site.project;
    const all = await ports.domains.listDomains(id);
    const view = await ports.domains.showDomainSettings(id, all);
    const content = html`
      ${projectHead(site.project, 'settings', 'Its name, its address, and its configuration as a document.')}
      ${visit.may('project.rename') && nameSection(ports, site, refusal)}
      ${await configurationSection(view.document, ports.domainSettings, {
        ...{ slug, may: visit.may },
        refusal: refusalOf(refusal, 'import'),
      })}
      ${visit.may('project.delete') && deletion(site, all.filter(isAttached).length, refusalOf(refusal, 'delete-project'))}`;
    return { title: `Settings of ${name}`, content };
  },
  forms: [renaming(ports), moving(ports), configurationForm(ports), deleting(ports)],
});

const nameSection = (
  { settings }: Pick<DashboardPorts, 'settings'>,
  { project: { slug, name } }: Site,
  refusal: Refusal | undefined,
): Html => {
  const [renamed, moved] = ['rename', 'move'].map((one) => refusalOf(refusal, one));
  const host = new URL(settings.siteUrl(slug)).host;
  return html`<section class="card" aria-labelledby="name-and-address">
    <h2 id="name-and-address">Name and address</h2>
    <form method="post" action="${settingsPath(slug)}/name" class="fields">
      ${formError(renamed)}
      ${field({ label: 'Project name', name: 'name', value: name, maxlength: 100 }, renamed)}
      <button>Rename</button>
    </form>
    <form method="post" action="${settingsPath(slug)}/address" class="fields">
      ${formError(moved)}
      ${field({ label: 'Address', name: 'slug', value: slug, maxlength: 48, autocomplete: 'off', hint: `The part before ${host.slice(slug.length)}. Visitors of the address before are redirected to the new one for 90 days, and nobody else gets it in that time.` }, moved)}
      <button>Change address</button>
    </form>
  </section>`;
};

const deletion = (site: Site, domains: number, refusal: Refusal | undefined): Html => {
  const { slug, name } = site.project;
  const { deploys } = site;
  const all = deploys.length === 0 ? 'It has no deploys.' : deploysInWords(site);
  return html`<section class="card" aria-labelledby="delete-project">
    <h2 id="delete-project">Delete this project</h2>
    <p>${name} is no longer served as soon as you delete it. For 7 days an owner can restore it; then all of it is gone for good.</p>
    <ul class="bullets">
      <li>${domains === 0 ? 'It has no custom domains.' : `${counted(domains, 'custom domain')} ${domains === 1 ? 'stops' : 'stop'} at once, and ${domains === 1 ? 'counts' : 'count'} against your plan until then.`}</li>
      <li>${all}</li>
    </ul>
    <form method="post" action="${settingsPath(slug)}/delete" class="fields">
      ${formError(refusal)}
      ${field({ label: `Type ${slug} to confirm`, name: 'confirmed', autocomplete: 'off', maxlength: 100 }, refusal)}
      <button class="danger">Delete project</button>
    </form>
  </section>`;
};

const deploysInWords = (site: Site): string => {
  const { length } = site.deploys;
  const files = bytesInWords(keptBytes(site));
  return `${counted(length, 'deploy')} with ${files} of files ${length === 1 ? 'goes' : 'go'} with it.`;
};

const renaming = (ports: DashboardPorts): Form =>
  form({
    name: 'rename',
    operation: 'project.rename',
    path: `${path}/name`,
    schema: v.object({ name: filled('Enter a name.') }),
    field: 'name',
    act: async (visit, { name }) => {
      const { project } = await siteOf(ports, visit);
      const { slug } = (await ports.sites.renameProject(project, { name })).project;
      return { to: settingsPath(slug), done: 'renamed' };
    },
  });

const moving = (ports: DashboardPorts): Form =>
  form({
    name: 'move',
    operation: 'project.rename',
    path: `${path}/address`,
    schema: v.object({ slug: filled('Enter an address.') }),
    field: 'slug',
    act: async (visit, { slug: wanted }) => {
      const { project } = await siteOf(ports, visit);
      const { slug } = (await ports.sites.renameProject(project, { slug: wanted })).project;
      return { to: settingsPath(slug), ...(slug !== project.slug && { done: 'moved' }) };
    },
  });

const deleting = (ports: DashboardPorts): Form =>
  form({
    name: 'delete-project',
    operation: 'project.delete',
    path: `${path}/delete`,
    schema: v.object({ confirmed: filled('Type the address of the project.') }),
    field: 'confirmed',
    act: async (visit, { confirmed }) => {
      const { project } = await siteOf(ports, visit);
      if (confirmed.trim() !== project.slug)
        throw new PageProblem(422, `That is not ${project.slug}. The project is not deleted.`);
      await ports.sites.deleteProject(project);
      return { to: deletedPath, done: 'deleted' };
    },
  });

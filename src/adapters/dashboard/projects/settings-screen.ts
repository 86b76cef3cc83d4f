import * as v from 'valibot';
import { isAttached } from '../../../domains/domain/attachment/serving.ts';
import { bytesInWords } from '../../../kernel/text.ts';
import type { DomainSettingsDocument } from '../../../domains/domain/redirects/settings.ts';
import { keptBytes } from '../../../sites/domain/storage-quota.ts';
import type { Site } from '../../../sites/domain/site.ts';
import { field, formError, onceInput, textArea } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { copyButton, counted, folded } from '../frame/parts.ts';
import { deletedPath } from '../frame/paths.ts';
import {
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { projectHead, settingsPath, siteOf } from './project-head.ts';

const path = settingsPath(':slug');

export const settingsScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
  live: false,
  notices: {
    imported: 'Configuration imported.',
    renamed: 'The project is renamed.',
    moved: 'The project has a new address. The old one redirects to it for 90 days.',
  },
  show: async (visit, refusal) => {
    const site = await siteOf(ports, visit);
    const { id, slug, name } = site.project;
    const all = await ports.domains.listDomains(id);
    const view = await ports.domains.showDomainSettings(id, all);
    const content = html`
      ${projectHead(site.project, 'settings', 'Its name, its address, and its configuration as a document.')}
      ${visit.may('project.rename') && nameSection(ports, site, refusal)}
      ${configurationSection(view.document, ports.domainSettings, {
        slug,
        may: visit.may,
        refusal: refusalOf(refusal, 'import'),
      })}
      ${visit.may('project.delete') && deletion(site, { domains: all.filter(isAttached).length, once: ports.ids.next('form'), refusal: refusalOf(refusal, 'delete-project') })}`;
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
      ${field({ label: 'Address', name: 'slug', value: slug, maxlength: 48, autocomplete: 'off', hint: `The part before ${host.slice(slug.length)}. If you change it, the old address redirects to the new one for 90 days, and nobody else can take it.` }, moved)}
      <button>Change address</button>
    </form>
  </section>`;
};

interface Importing {
  readonly slug: string;
  readonly refusal: Refusal | undefined;
  readonly may: Visit['may'];
}

const configurationSection = (
  document: DomainSettingsDocument,
  { write }: DashboardPorts['domainSettings'],
  { slug, refusal, may }: Importing,
): Html =>
  folded(
    { id: 'configuration', title: 'Configuration', isOpen: refusal !== undefined },
    html`<p class="hint">The primary domain and the redirects as a document that you can keep in version control.</p>
    <div class="columns formats">
      ${format('YAML', write(document, 'yaml'))}
      ${format('JSON', write(document, 'json'))}
    </div>
    ${may('domain.configure') && importForm(slug, refusal)}`,
  );

const format = (name: string, text: string): Html =>
  html`<div>
    <div class="row between"><h3>${name}</h3>${copyButton(text, `the ${name}`)}</div>
    <pre role="region" tabindex="0" aria-label="${name}">${text}</pre>
  </div>`;

const importForm = (slug: string, refusal: Refusal | undefined): Html =>
  html`<details id="import" ${refusal && html`open`}>
    <summary>Import a configuration</summary>
    <form method="post" action="${settingsPath(slug)}/configuration">
      ${formError(refusal)}
      ${textArea({ label: 'Configuration as YAML or JSON', name: 'settings', hint: 'Replaces the primary domain and all redirects. Domains are neither added nor removed.' }, refusal)}
      <div><button>Import</button></div>
    </form>
  </details>`;

const configurationForm = (ports: DashboardPorts): Form =>
  form({
    name: 'import',
    operation: 'domain.configure',
    path: `${path}/configuration`,
    schema: v.object({ settings: filled('Paste the YAML or JSON.') }),
    field: 'settings',
    act: async (visit, { settings }) => {
      const { id, slug } = (await siteOf(ports, visit)).project;
      await ports.domains.changeDomainSettings(id, ports.domainSettings.read(settings));
      return { to: settingsPath(slug), done: 'imported' };
    },
  });

interface Deletion {
  readonly domains: number;
  readonly once: string;
  readonly refusal: Refusal | undefined;
}

const deletion = (site: Site, { domains, once, refusal }: Deletion): Html => {
  const { slug, name } = site.project;
  const { deploys } = site;
  const all = deploys.length === 0 ? 'It has no deploys.' : deploysInWords(site);
  return html`<section class="card" aria-labelledby="delete-project">
    <h2 id="delete-project">Delete this project</h2>
    <p>As soon as you delete it, ${name} is no longer served. For 7 days an owner can restore it; after that, everything is permanently removed.</p>
    <ul class="bullets">
      <li>${domains === 0 ? 'It has no custom domains.' : `${counted(domains, 'custom domain')} ${domains === 1 ? 'stops' : 'stop'} at once, but ${domains === 1 ? 'counts' : 'count'} towards your plan for these 7 days.`}</li>
      <li>${all}</li>
    </ul>
    <form method="post" action="${settingsPath(slug)}/delete" class="fields">
      ${formError(refusal)}
      ${onceInput(once)}
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
    once: true,
    act: async (visit, { confirmed }) => {
      const { project } = await siteOf(ports, visit);
      if (confirmed.trim() !== project.slug)
        throw new PageProblem(422, `That is not ${project.slug}. The project is not deleted.`);
      await ports.sites.deleteProject(project);
      return { to: deletedPath, done: 'deleted' };
    },
  });

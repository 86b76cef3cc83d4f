import * as v from 'valibot';
import type { DomainSettingsDocument } from '../../../domains/domain/redirects/settings.ts';
import { formError, textArea } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { copyButton, folded } from '../frame/parts.ts';
import { form, type Form, type Refusal, type Visit } from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import { settingsPath, siteOf } from './project-head.ts';
import type { DashboardPorts } from '../ports.ts';

const configurationPath = (slug: string): string =>
  `/dashboard/projects/${slug}/settings/configuration`;

interface Importing {
  readonly slug: string;
  readonly refusal: Refusal | undefined;
  readonly may: Visit['may'];
}

export const configurationSection = async (
  document: DomainSettingsDocument,
  { write }: DashboardPorts['domainSettings'],
  { slug, refusal, may }: Importing,
): Promise<Html> =>
  folded(
    { id: 'configuration', title: 'Configuration', isOpen: refusal !== undefined },
    html`<p class="hint">The primary domain and the redirects as a document that you can keep in version control.</p>
    <div class="columns formats">
      ${format('YAML', await write(document, 'yaml'))}
      ${format('JSON', await write(document, 'json'))}
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
    <form method="post" action="${configurationPath(slug)}">
      ${formError(refusal)}
      ${textArea({ label: 'Configuration as YAML or JSON', name: 'settings', hint: 'Replaces the primary domain and all redirects. Domains are neither added nor removed.' }, refusal)}
      <div><button>Import</button></div>
    </form>
  </details>`;

export const configurationNotices = { imported: 'Configuration imported.' };

export const configurationForm = (ports: DashboardPorts): Form =>
  form({
    name: 'import',
    operation: 'domain.configure',
    path: configurationPath(':slug'),
    schema: v.object({ settings: filled('Paste the YAML or JSON.') }),
    field: 'settings',
    act: async (visit, { settings }) => {
      const { id, slug } = (await siteOf(ports, visit)).project;
      await ports.domains.changeDomainSettings(id, await ports.domainSettings.read(settings));
      return { to: settingsPath(slug), done: 'imported' };
    },
  });

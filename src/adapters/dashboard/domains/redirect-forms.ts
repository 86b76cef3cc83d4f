import * as v from 'valibot';
import type { DashboardPorts } from '../frame/ports.ts';
import { filled } from '../frame/form-body.ts';
import { domainsPath, settingPath } from './paths.ts';
import { redirectAnchor } from './redirect-section.ts';
import { bareForm, form, type Form, type Visit } from '../frame/screen.ts';
import { siteOf } from '../projects/site-of.ts';

const redirectDraft = v.object({
  from: filled('Enter the domain of this project to redirect from.'),
  to: v.pipe(
    filled('Enter a domain of this project, or an address such as https://example.com/shop.'),
    v.maxLength(1000, 'An address has at most 1000 characters.'),
  ),
  status: v.pipe(
    v.string(),
    v.regex(/^\d{3}$/, 'Choose one of the statuses.'),
    v.transform(Number),
  ),
});

export const redirectNotices = {
  redirected: 'Redirect added.',
  'redirect-deleted': 'Redirect deleted.',
  'primary-saved': 'Primary domain saved.',
  imported: 'Configuration imported.',
};

export const redirectForms = (ports: DashboardPorts): readonly Form[] => {
  const { domains } = ports;
  const projectOf = async (visit: Visit) => (await siteOf(ports, visit)).project;
  return [
    form({
      name: 'add-redirect',
      path: settingPath(':slug', 'redirects'),
      schema: redirectDraft,
      field: 'to',
      once: true,
      act: async (visit, redirect) => {
        const { id, slug } = await projectOf(visit);
        const { document } = await domains.editDomainSettings(id, (settings) => ({
          ...settings,
          redirects: [...settings.redirects, redirect],
        }));
        const from = document.domains.redirects.at(-1)?.from ?? '';
        return { to: `${domainsPath(slug)}#${redirectAnchor(from)}`, done: 'redirected' };
      },
    }),
    bareForm({
      name: 'delete-redirect',
      path: `${settingPath(':slug', 'redirects')}/:from/delete`,
      act: async (visit) => {
        const { id, slug } = await projectOf(visit);
        await domains.editDomainSettings(id, (settings) => ({
          ...settings,
          redirects: settings.redirects.filter(({ from }) => from !== visit.parameters['from']),
        }));
        return { to: domainsPath(slug), done: 'redirect-deleted' };
      },
    }),
    form({
      name: 'primary-domain',
      path: settingPath(':slug', 'primary-domain'),
      schema: v.object({ primary: v.string() }),
      field: 'primary',
      act: async (visit, { primary }) => {
        const { id, slug } = await projectOf(visit);
        await domains.choosePrimary(id, primary);
        return { to: domainsPath(slug), done: 'primary-saved' };
      },
    }),
    form({
      name: 'import',
      path: settingPath(':slug', 'configuration'),
      schema: v.object({ settings: filled('Paste the YAML or JSON.') }),
      field: 'settings',
      act: async (visit, { settings }) => {
        const { id, slug } = await projectOf(visit);
        await domains.changeDomainSettings(id, await ports.domainSettings.read(settings));
        return { to: domainsPath(slug), done: 'imported' };
      },
    }),
  ];
};

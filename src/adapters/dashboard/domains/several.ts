import * as v from 'valibot';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isAttached } from '../../../domains/domain/attachment/serving.ts';
import { nameInText } from '../../../domains/domain/names/hostname.ts';
import { html, type Html } from '../frame/html.ts';
import { counted, head } from '../frame/parts.ts';
import { form, type Form, type Screen, type Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { siteOf } from '../projects/project-head.ts';
import { verifyIfPossible } from './actions.ts';
import { domainsPath, placeOf, settingPath } from './paths.ts';
import { leftRecords, whyDelete } from './records.ts';
import { shownName } from './words.ts';

type Ports = Pick<DashboardPorts, 'sites' | 'domains' | 'settings'>;

const most = 50;

export const severalNotices = {
  'verified-several': 'Checked. Each row says what we found.',
  'removed-several':
    'The domains are removed, and nothing is served under them any more. Delete their records at your DNS provider.',
};

const chosen = v.object({
  domain: v.pipe(v.optional(v.string(), ''), v.minLength(1, 'Select at least one domain.')),
});

const chosenOf = async (
  { domains }: Pick<Ports, 'domains'>,
  projectId: string,
  ids: readonly string[],
): Promise<readonly CustomDomain[]> => {
  const asked = [...new Set(ids)].slice(0, most);
  const found = await Promise.all(asked.map((id) => domains.getDomain(projectId, id)));
  return found.filter(isAttached);
};

/** Verifies each domain as its own button would. A refusal for one does not affect the others. */
export const verifyingSeveral = (ports: Ports): Form =>
  form({
    name: 'verify-several',
    operation: 'domain.verify',
    path: settingPath(':slug', 'verify-domains'),
    schema: chosen,
    act: async (visit, { domain }) => {
      const { id, slug } = (await siteOf(ports, visit)).project;
      const all = await chosenOf(ports, id, domain.split(','));
      await Promise.all(all.map((one) => verifyIfPossible(ports, one)));
      return { to: domainsPath(slug) + placeOf(visit.query), done: 'verified-several' };
    },
  });

const path = settingPath(':slug', 'remove-domains');

export const removeSeveralScreen = (ports: Ports): Screen => ({
  path,
  section: 'projects',
  help: 'domains',
  live: false,
  show: async (visit: Visit) => {
    const { id, slug, name } = (await siteOf(ports, visit)).project;
    const all = await chosenOf(ports, id, visit.query.getAll('domain'));
    const list = domainsPath(slug) + placeOf(visit.query);
    const action = settingPath(slug, 'remove-domains') + placeOf(visit.query);
    const isAsking = all.length > 0 && visit.may('domain.remove');
    const title = isAsking ? `Remove ${counted(all.length, 'domain')}?` : 'Remove domains';
    const trail = [
      ['Projects', '/dashboard'],
      [name, `/dashboard/projects/${slug}`],
      ['Domains', list],
    ] as const;
    return {
      title,
      content: html`${head(title, isAsking ? consequences : undefined, { trail })}${isAsking ? asking(all, { list, action, ports }) : nothingSelected(list)}`,
    };
  },
  forms: [
    form({
      name: 'remove-several',
      operation: 'domain.remove',
      path,
      schema: chosen,
      act: async (visit, { domain }) => {
        const { id, slug } = (await siteOf(ports, visit)).project;
        for (const one of await chosenOf(ports, id, domain.split(','))) {
          await ports.domains.removeDomain(one);
        }
        return { to: domainsPath(slug) + placeOf(visit.query), done: 'removed-several' };
      },
    }),
  ],
});

const consequences =
  'Visitors can no longer reach the site under these names, effective immediately. Their certificates and private keys are destroyed, and redirects from them and to them stop working. The site itself stays.';

interface Asking {
  readonly list: string;
  readonly action: string;
  readonly ports: Pick<Ports, 'settings'>;
}

const nothingSelected = (list: string): Html =>
  html`<p>No domain is selected. <a href="${list}">Back to the domains</a></p>`;

const asking = (all: readonly CustomDomain[], { list, action, ports }: Asking): Html =>
  html`<ul class="bullets">${all.map((domain) => html`<li><strong>${shownName(domain)}</strong></li>`)}</ul>
    <form method="post" action="${action}" class="row">
      ${all.map(({ id }) => html`<input type="hidden" name="domain" value="${id}">`)}
      <button class="danger">Remove domains</button>
      <a class="button bare" href="${list}">Cancel</a>
    </form>
    <details><summary>The DNS records to delete afterwards</summary>
      <div class="stack">
        <p class="hint">${whyDelete}</p>
        ${all.map((domain) => html`<h2>${nameInText(domain)}</h2>${leftRecords(domain, ports.settings)}`)}
      </div>
    </details>`;

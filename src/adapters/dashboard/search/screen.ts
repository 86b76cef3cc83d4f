import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { Pet } from '../../../catalogue/domain/pet.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { animalsPath } from '../animals/query.ts';
import { animalPath, petBadge } from '../animals/steps.ts';
import { domainPath } from '../domains/paths.ts';
import { shownName, stateBadge } from '../domains/words.ts';
import { html, type Html } from '../frame/html.ts';
import { addressOf, rowList, searchField } from '../frame/list-parts.ts';
import { empty, head } from '../frame/parts.ts';
import { searchPath } from '../frame/paths.ts';
import type { Screen } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';

const most = 10;

type Ports = Pick<DashboardPorts, 'sites' | 'domains' | 'catalogue'>;

export const searchScreen = (ports: Ports): Screen => ({
  path: searchPath,
  section: 'search',
  live: false,
  show: async ({ accountId, query }) => {
    const text = (query.get('q') ?? '').trim().slice(0, 200);
    const address = { path: searchPath, fields: { q: text } };
    const label = 'Search projects, domains and animals';
    const field = searchField(address, label, { isFocused: text === '' });
    const found = text === '' ? undefined : await look(ports, accountId, text);
    return {
      title: text === '' ? 'Search' : `Search: ${text}`,
      content: html`${head('Search', undefined, { more: field })}${found && results(found, text)}`,
    };
  },
});

interface Results {
  readonly projects: readonly Project[];
  readonly domains: readonly (CustomDomain & { readonly project: Project | undefined })[];
  readonly animals: readonly Pet[];
}

const look = async (
  { sites, domains, catalogue }: Ports,
  accountId: string,
  text: string,
): Promise<Results> => {
  const [projects, found, animals] = await Promise.all([
    sites.listProjects(accountId),
    domains.searchDomains(accountId, text, most),
    catalogue.searchPets(accountId, { beginning: text, order: 'name', limit: most }),
  ]);
  const byId = new Map(projects.map((project) => [project.id, project]));
  const wanted = text.toLowerCase();
  return {
    projects: projects
      .filter(({ name, slug }) => `${name}\n${slug}`.toLowerCase().includes(wanted))
      .slice(0, most),
    domains: found.map((domain) => ({ ...domain, project: byId.get(domain.projectId) })),
    animals,
  };
};

const results = ({ projects, domains, animals }: Results, text: string): Html => {
  if (projects.length + domains.length + animals.length === 0) {
    return empty(
      'Nothing found',
      'We search the names of projects and domains, and animals by their id or the beginning of their name.',
    );
  }
  return html`
    ${part('Projects', projects, [
      [
        'Project',
        'name',
        ({ slug, name }) => html`<a href="/dashboard/projects/${slug}">${name}</a>`,
      ],
      ['Address', 'text', ({ slug }) => slug],
    ])}
    ${part('Domains', domains, [
      [
        'Domain',
        'name',
        (domain) =>
          html`<a href="${domainPath(domain.project?.slug ?? '', domain.id)}">${shownName(domain)}</a>`,
      ],
      ['State', 'bare', stateBadge],
      ['Project', 'text', ({ project }) => project?.name],
    ])}
    ${part('Animals', animals, [
      ['Animal', 'name', (pet) => html`<a href="${animalPath(pet)}">${pet.name}</a>`],
      ['Id', 'mono', ({ id }) => html`#${String(id)}`],
      ['Status', 'bare', petBadge],
    ])}
    ${animals.length === most && html`<p><a href="${addressOf({ path: animalsPath, fields: { q: text } })}">All animals whose name begins with “${text}”</a></p>`}`;
};

const part = <Thing>(
  title: string,
  things: readonly Thing[],
  columns: Parameters<typeof rowList<Thing>>[1],
): Html | false =>
  things.length > 0 &&
  html`<section class="stack" aria-label="${title}"><h2>${title}</h2>${rowList(things, columns)}</section>`;

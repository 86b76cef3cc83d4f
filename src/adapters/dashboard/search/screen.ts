import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { Pet } from '../../../catalogue/domain/pet.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { animalsPath } from '../animals/query.ts';
import { animalPath, petBadge } from '../animals/steps.ts';
import { domainPath } from '../domains/paths.ts';
import { shownName, stateBadge } from '../domains/words.ts';
import { html, type Html } from '../frame/html.ts';
import { addressOf, rowList, searchField } from '../frame/list-parts.ts';
import { empty, head, listPart } from '../frame/parts.ts';
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
    domains.searchDomains(accountId, text, most + 1),
    catalogue.searchPets(accountId, { beginning: text, order: 'name', limit: most + 1 }),
  ]);
  const byId = new Map(projects.map((project) => [project.id, project]));
  const wanted = text.toLowerCase();
  return {
    projects: projects.filter(({ name, slug }) =>
      `${name}\n${slug}`.toLowerCase().includes(wanted),
    ),
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
  const all = (path: string, what: string) =>
    html`<p><a href="${addressOf({ path, fields: { q: text } })}">All ${what} “${text}”</a></p>`;
  const typeMore = html`<p class="hint">There are more. Enter more of the name to find them.</p>`;
  return html`
    ${part({ title: 'Projects', things: projects, more: all('/dashboard', 'projects with') }, [
      [
        'Project',
        'name',
        ({ slug, name }) => html`<a href="/dashboard/projects/${slug}">${name}</a>`,
      ],
      ['Address', 'text', ({ slug }) => slug],
    ])}
    ${part({ title: 'Domains', things: domains, more: typeMore }, [
      [
        'Domain',
        'name',
        (domain) =>
          html`<a href="${domainPath(domain.project?.slug ?? '', domain.id)}">${shownName(domain)}</a>`,
      ],
      ['State', 'bare', stateBadge],
      ['Project', 'text', ({ project }) => project?.name],
    ])}
    ${part(
      {
        title: 'Animals',
        things: animals,
        more: all(animalsPath, 'animals whose name begins with'),
      },
      [
        ['Animal', 'name', (pet) => html`<a href="${animalPath(pet)}">${pet.name}</a>`],
        ['Id', 'mono', ({ id }) => html`#${String(id)}`],
        ['Status', 'bare', petBadge],
      ],
    )}`;
};

interface Part<Thing> {
  readonly title: string;
  readonly things: readonly Thing[];
  /** Leads to the things that are not shown. */
  readonly more: Html;
}

const part = <Thing>(
  { title, things, more }: Part<Thing>,
  columns: Parameters<typeof rowList<Thing>>[1],
): Html | false => {
  const { shown, last } = listPart(things, most);
  if (shown.length === 0) return false;
  return html`<section class="stack" aria-label="${title}"><h2>${title}</h2>${rowList(shown, columns)}${last && more}</section>`;
};

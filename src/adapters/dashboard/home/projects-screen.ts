import * as v from 'valibot';
import { healthOf } from '../../../domains/domain/attachment/serving.ts';
import type { DomainOverview } from '../../../domains/ports.ts';
import { isReservedSlug, slugOf } from '../../../sites/domain/project.ts';
import type { Site } from '../../../sites/domain/site.ts';
import type { DashboardPorts } from '../ports.ts';
import { filled } from '../frame/sent-form.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { field, formError, onceInput } from '../frame/form-parts.ts';
import {
  type ListAddress,
  listBar,
  noMatch,
  filterBar,
  pageIn,
  rowList,
  searchField,
} from '../frame/list-parts.ts';
import { badge, empty, head, time } from '../frame/parts.ts';
import { form, refusalOf, type Refusal, type Screen, type Visit } from '../frame/screen.ts';
import { healthBadges } from '../domains/certificate.ts';
import { shownName, stateBadge } from '../domains/words.ts';
import { firstSteps, needsYou } from './attention.ts';

const path = '/dashboard';

const fewProjects = 10;
const mostNeeds = 5;

const draft = v.object({
  name: v.pipe(
    filled('Give the project a name.'),
    v.maxLength(100, 'A name has at most 100 characters.'),
  ),
});

export const projectsScreen = (ports: DashboardPorts): Screen => {
  const { access, sites, domains, ids, settings } = ports;
  return {
    path,
    section: 'projects',
    live: false,
    show: async (visit: Visit, refusal?: Refusal) => {
      const { accountId, may } = visit;
      const [all, overview, keys] = await Promise.all([
        sites.listSites(accountId),
        domains.showOverview(accountId, mostNeeds),
        access.listApiKeys(accountId),
      ]);
      const isKeyMade = keys.some(({ revokedAt }) => !revokedAt);
      const content = html`
        ${head('Projects', 'Each project is one of your sites, with its deploys and its domains.')}
        ${
          may('project.create')
            ? html`${newProject(ids.next('form'), refusalOf(refusal, 'new-project'))}${firstSteps(all, overview, isKeyMade)}`
            : all.length === 0 && empty('No project yet', 'An owner or an editor can create one.')
        }
        ${needsYou(all, overview, visit.now)}
        ${all.length > 0 && list(all, { overview, visit, siteUrl: settings.siteUrl })}`;
      return { title: 'Projects', content };
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

const newProject = (once: string, refusal: Refusal | undefined): Html =>
  html`<form method="post" action="${path}" class="fields">
    ${formError(refusal)}
    ${onceInput(once)}
    ${field({ label: 'Project name', name: 'name', maxlength: 100, placeholder: 'Happy Paws' }, refusal)}
    <button class="main">New project</button>
  </form>`;

interface ListView {
  readonly overview: DomainOverview;
  readonly visit: Visit;
  readonly siteUrl: (slug: string) => string;
}

const orders = [
  { value: '', text: 'Name' },
  { value: 'deploy', text: 'Last deploy' },
  { value: 'newest', text: 'Newest' },
] as const;

const lastDeploy = ({ deploys: [newest] }: Site): number => newest?.startedAt.getTime() ?? 0;

const compare: Readonly<Record<string, (one: Site, other: Site) => number>> = {
  deploy: (one, other) => lastDeploy(other) - lastDeploy(one),
  newest: ({ project: one }, { project: other }) =>
    other.createdAt.getTime() - one.createdAt.getTime(),
};
const byName = ({ project: one }: Site, { project: other }: Site): number =>
  one.name.localeCompare(other.name, 'en', { numeric: true });

/** An account has few projects, so all are read and then filtered here. */
const list = (all: readonly Site[], view: ListView): Html => {
  const { query } = view.visit;
  const text = (query.get('q') ?? '').trim().slice(0, 200);
  const order = orders.find(({ value }) => value === query.get('order'))?.value ?? '';
  const address = { path, fields: { q: text, order } };
  const matching = all
    .filter(({ project: { name, slug } }) =>
      `${name}\n${slug}`.toLowerCase().includes(text.toLowerCase()),
    )
    .toSorted(compare[order] ?? byName);
  const choice = { address, after: query.get('after'), order: 'other' } as const;
  const { shown, links } = pageIn(matching, ({ project }) => project.slug, choice);
  return html`
    ${all.length > fewProjects && bar(address)}
    ${shown.length === 0 ? noMatch(address, 'projects') : rows(shown, view)}
    ${links}`;
};

const bar = (address: ListAddress): Html =>
  listBar(
    filterBar(address, 'Order', { name: 'order', choices: orders }),
    searchField(address, 'Search projects'),
  );

const rows = (sites: readonly Site[], view: ListView): Html =>
  rowList(sites, [
    [
      'Project',
      'name',
      ({ project: { slug, name } }) => html`<a href="/dashboard/projects/${slug}">${name}</a>`,
    ],
    ['Address', 'line', (site) => addressIn(site, view)],
    ['Health', 'bare', (site) => health(site, view)],
    ['Last deploy', 'text', (site) => deployed(site, view)],
  ]);

const addressIn = ({ project: { id, slug } }: Site, { overview, siteUrl }: ListView): Html => {
  const primary = overview.primaries.get(id);
  return html`${primary ? shownName(primary) : new URL(siteUrl(slug)).host}`;
};

const health = ({ project: { id }, servedDeployId }: Site, { overview, visit }: ListView): Html => {
  if (servedDeployId === undefined) return badge('not published', 'idle');
  const primary = overview.primaries.get(id);
  if (!primary) return badge('published', 'good');
  const found = healthOf(primary, visit.now);
  return found ? healthBadges[found.kind] : stateBadge(primary);
};

const deployed = ({ deploys: [newest] }: Site, { visit: { now } }: ListView): Html => {
  if (!newest) return html`<span class="quiet">no deploy yet</span>`;
  const failed = newest.state === 'failed' ? html`\u00a0${badge('failed', 'bad')}` : nothing;
  return html`<span class="whole">${time(newest.startedAt, now)}${failed}</span>`;
};

import * as v from 'valibot';
import type { CustomDomain, DomainIn } from '../../../domains/domain/attachment/custom-domain.ts';
import { configurationSection } from './configuration-section.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { verifyAnchor } from './actions.ts';
import { addingForm, noDomainYet } from './adding.ts';
import {
  domainTable,
  pageLinks,
  pageOf,
  pageQuery,
  removedSection,
  type ListOptions,
} from './list.ts';
import { afterRemoval, afterwards, verification, verifyNotices } from './notices.ts';
import { domainPath, domainsPath } from './paths.ts';
import { newRecords } from './records.ts';
import { filled } from '../frame/form-body.ts';
import { html, type Html } from '../frame/html.ts';
import { projectHead } from '../projects/head.ts';
import { redirectForms, redirectNotices } from './redirect-forms.ts';
import { redirectSection } from './redirect-section.ts';
import { queryText } from '../frame/query-text.ts';
import { form, refusalOf, type Refusal, type Screen, type Visit } from '../frame/screen.ts';
import { siteOf } from '../projects/site-of.ts';

const path = domainsPath(':slug');

/** All domains of a project, a new one, and what is decided about them together. */
export const domainsScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
  isLive: true,
  notices: { ...redirectNotices, ...verifyNotices },
  show: showDomains(ports),
  forms: [addingOf(ports), verifyingOf(ports), ...redirectForms(ports)],
});

const showDomains = (ports: DashboardPorts) => async (visit: Visit, refusal?: Refusal) => {
  const { domains, ids, domainSettings, settings } = ports;
  const { now, query } = visit;
  const site = await siteOf(ports, visit);
  const { id, slug, name } = site.project;
  const all = await domains.listDomains(id);
  const view = await domains.showDomainSettings(id, all);
  const attached = all.filter(({ state }) => state !== 'removed');
  const removed = all.filter(isRemoved);
  // What was just added, or verified: its records stay in sight until the DNS is correct.
  const named = query.get('added') ?? query.get('host');
  const acted = attached.find(({ host }) => host === named);
  const path = domainPath(slug, acted?.host ?? '');
  const holds = await domains.showHolds(attached);
  const adding = addingForm(domainsPath(slug), ids.next('form'), refusalOf(refusal, 'add-domain'));
  const content = html`
    ${afterRemoval(removed, query, settings.platformHost)}
    ${afterwards(query, acted, path)}
    ${projectHead(site.project, 'domains', html`<p class="lead">Serve this site under names of your own, each with its own certificate.</p>`)}
    ${acted?.state === 'added' && newRecords(await domains.showDomain(acted), { path, anchor: verifyAnchor(acted) })}
    <section class="card" id="all-domains" aria-labelledby="domains">
      <h2 id="domains">Domains</h2>
      ${adding}
      ${attached.length === 0 ? noDomainYet(site, visit.signedIn.account.plan) : listed(attached, { slug, now, query, holds, refusal })}
    </section>
    ${removedSection(removed, attached, { slug, now })}
    ${redirectSection({ slug, view, attached, once: ids.next('form'), refusal })}
    ${await configurationSection(slug, view.document, domainSettings, refusalOf(refusal, 'import'))}`;
  return { title: `Domains of ${name}`, content };
};

const listed = (
  attached: readonly CustomDomain[],
  {
    slug,
    now,
    query,
    ...options
  }: Pick<ListOptions, 'slug' | 'holds' | 'refusal' | 'now'> & Pick<Visit, 'query'>,
): Html => {
  const page = pageOf(attached, query.get('page'));
  return html`${domainTable(page.domains, { slug, now, ...options, pageQuery: pageQuery(query) })}
    ${pageLinks(page)}`;
};

const isRemoved = (domain: CustomDomain): domain is DomainIn<'removed'> =>
  domain.state === 'removed';

const draft = v.object({
  domain: v.pipe(
    filled('Enter a domain, such as shop.example.com.'),
    v.maxLength(300, 'A domain has at most 253 characters.'),
  ),
});

const addingOf = (ports: DashboardPorts) =>
  form({
    name: 'add-domain',
    path,
    schema: draft,
    field: 'domain',
    once: true,
    act: async (visit, { domain }) => {
      const { project } = await siteOf(ports, visit);
      const { host } = await ports.domains.addDomain(project, domain);
      const to = `${domainsPath(project.slug)}${queryText({ added: host })}`;
      return { to, done: 'added' };
    },
  });

const verifyingOf = (ports: DashboardPorts) =>
  verification(
    ports,
    `${domainPath(':slug', ':host')}/verify`,
    ({ slug }, { host }, { query }) => `${domainsPath(slug)}${pageQuery(query, { host })}`,
  );

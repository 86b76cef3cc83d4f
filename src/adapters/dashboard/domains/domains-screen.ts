import { planAllowances } from '../../../sites/domain/allowance.ts';
import type { Context } from 'koa';
import * as v from 'valibot';
import type { Plan } from '../../../access/domain/plan.ts';
import type { CustomDomain, DomainIn } from '../../../domains/domain/attachment/custom-domain.ts';
import { configurationSection } from './configuration-section.ts';
import type { DashboardPorts, DashboardSettings } from '../frame/ports.ts';
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
import { domainPath, domainsPath, otherNamePath } from './paths.ts';
import { newRecords } from './new-records.ts';
import { pairNote, type PairedProject } from './pair-note.ts';
import { filled } from '../frame/form-body.ts';
import { html, nothing, type Html } from '../frame/html.ts';
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
  live: ({ parameters }) => ports.domains.fingerprint(parameters['slug'] ?? ''),
  notices: { ...redirectNotices, ...verifyNotices },
  show: showDomains(ports),
  forms: [addingOf(ports), verifyingOf(ports), ...redirectForms(ports)],
  others: [{ method: 'GET', path: otherNamePath, answer: otherName(ports) }],
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
  const [acted, other] = [named, query.get('with')].map((name) =>
    attached.find(({ host }) => host === name),
  );
  const path = domainPath(slug, acted?.host ?? '');
  const holds = await domains.showHolds(attached);
  const { plan } = visit.signedIn.account;
  const adding = addingForm({
    ...{ action: domainsPath(slug), once: ids.next('form') },
    hasWildcards: hasWildcards(settings, plan),
    refusal: refusalOf(refusal, 'add-domain'),
  });
  const content = html`
    ${afterRemoval(removed, query, settings)}
    ${afterwards(query, acted, path)}
    ${projectHead(site.project, 'domains', html`<p class="lead">Serve this site under names of your own, each with its own certificate.</p>`)}
    ${acted && (await recordsOf(ports, [acted, other], { slug, view, attached }))}
    <section class="card" id="all-domains" aria-labelledby="domains">
      <h2 id="domains">Domains</h2>
      ${adding}
      ${attached.length === 0 ? noDomainYet(site, plan) : listed(attached, { slug, now, query, holds, refusal, view, pair: [acted, other] })}
    </section>
    ${removedSection(removed, attached, { slug, now })}
    ${redirectSection({ slug, view, attached, once: ids.next('form'), refusal })}
    ${await configurationSection(slug, view.document, domainSettings, refusalOf(refusal, 'import'))}`;
  return { title: `Domains of ${name}`, content };
};

/** For the script of the box: the name that would be added with the typed one, or nothing. */
const otherName =
  ({ domains }: Pick<DashboardPorts, 'domains'>) =>
  ({ query }: Visit, ctx: Context): Promise<undefined> => {
    ctx.type = 'text/plain; charset=utf-8';
    ctx.body = domains.showOther(query.get('name') ?? '')?.unicode ?? '';
    return Promise.resolve(undefined);
  };

/** The plan has them, and there is the zone that they need. */
const hasWildcards = ({ acmeDnsZone }: DashboardSettings, plan: Plan): boolean =>
  acmeDnsZone !== undefined && planAllowances[plan].hasWildcards;

const listed = (attached: readonly CustomDomain[], options: ListOptions): Html => {
  const page = pageOf(attached, options.query.get('page'));
  return html`${domainTable(page.domains, options)}
    ${pageLinks(page)}`;
};

/** What is still to create for a domain that was just added or verified, and for the other one of its pair. */
const recordsOf = async (
  { domains }: Pick<DashboardPorts, 'domains'>,
  [acted, other]: readonly [CustomDomain, CustomDomain | undefined],
  { slug, ...project }: PairedProject & { readonly slug: string },
): Promise<Html> => {
  const waiting = [acted, other].filter((one) => one?.state === 'added');
  const views = await Promise.all(waiting.map((one) => domains.showDomain(one)));
  return newRecords(views, { slug, note: other ? pairNote(acted, other, project) : nothing });
};

const isRemoved = (domain: CustomDomain): domain is DomainIn<'removed'> =>
  domain.state === 'removed';

const draft = v.object({
  domain: v.pipe(
    filled('Enter a domain, such as shop.example.com.'),
    v.maxLength(300, 'A domain has at most 253 characters.'),
  ),
  /** A box: only sent where it is ticked. */
  pair: v.optional(v.string()),
});

const addingOf = (ports: DashboardPorts) =>
  form({
    name: 'add-domain',
    path,
    schema: draft,
    field: 'domain',
    once: true,
    act: async (visit, { domain, pair }) => {
      const { project } = await siteOf(ports, visit);
      const { addDomain, addPair } = ports.domains;
      const { typed, other } =
        pair === undefined
          ? { typed: await addDomain(project, domain), other: undefined }
          : await addPair(project, domain);
      const added = queryText({ added: typed.host, with: other?.host });
      return { to: `${domainsPath(project.slug)}${added}`, done: 'added' };
    },
  });

const verifyingOf = (ports: DashboardPorts) =>
  verification(
    ports,
    `${domainPath(':slug', ':host')}/verify`,
    ({ slug }, { host }, { query }) =>
      `${domainsPath(slug)}${pageQuery(query, { host, with: query.get('with') ?? undefined })}`,
  );

import type { Context } from 'koa';
import * as v from 'valibot';
import type { Plan } from '../../../access/domain/quota.ts';
import type { CustomDomain, DomainIn } from '../../../domains/domain/attachment/custom-domain.ts';
import { planAllowances } from '../../../sites/domain/project.ts';
import type { Site } from '../../../sites/domain/site.ts';
import { field, formError, onceInput } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { empty } from '../frame/parts.ts';
import { queryText } from '../frame/paths.ts';
import { form, type Refusal, refusalOf, type Screen, type Visit } from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import type { DashboardPorts, DashboardSettings } from '../ports.ts';
import { projectHead, siteOf } from '../projects/project-head.ts';
import { afterRemoval, noticeAfter, verification, verifyNotices } from './actions.ts';
import {
  domainTable,
  type ListOptions,
  pageLinks,
  pageOf,
  pageQuery,
  removedSection,
} from './list.ts';
import { newRecords, type PairedProject, pairNote } from './new-records.ts';
import { domainPath, domainsPath, otherNamePath } from './paths.ts';
import { redirectForms, redirectNotices, redirectSection } from './redirects.ts';

const path = domainsPath(':slug');

export const domainsScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
  help: 'domains',
  live: ({ parameters }) => ports.domains.fingerprint(parameters['slug'] ?? ''),
  notices: { ...redirectNotices, ...verifyNotices },
  show: showDomains(ports),
  forms: [addingOf(ports), verifyingOf(ports), ...redirectForms(ports)],
  others: [{ method: 'GET', path: otherNamePath, answer: otherName(ports) }],
});

const showDomains = (ports: DashboardPorts) => async (visit: Visit, refusal?: Refusal) => {
  const { domains, ids, settings } = ports;
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
    action: domainsPath(slug),
    once: ids.next('form'),
    hasWildcards: hasWildcards(settings, plan),
    refusal: refusalOf(refusal, 'add-domain'),
  });
  const content = html`
    ${afterRemoval(removed, query, settings)}
    ${noticeAfter(query, acted, path)}
    ${projectHead(site.project, 'domains', html`<p class="lead">Serve this site under names of your own, each with its own certificate.</p>`)}
    ${acted && (await recordsOf(ports, [acted, other], { slug, view, attached }))}
    <section class="card" id="all-domains" aria-labelledby="domains">
      <h2 id="domains">Domains</h2>
      ${adding}
      ${attached.length === 0 ? noDomainYet(site, plan) : listed(attached, { slug, now, query, holds, refusal, view, pair: [acted, other] })}
    </section>
    ${removedSection(removed, attached, { slug, now })}
    ${redirectSection({ slug, view, attached, once: ids.next('form'), refusal })}`;
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
    operation: 'domain.add',
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

interface Adding {
  readonly action: string;
  readonly once: string;
  readonly hasWildcards: boolean;
  readonly refusal: Refusal | undefined;
}

const addingForm = ({ action, once, hasWildcards, refusal }: Adding): Html =>
  html`<form method="post" action="${action}" class="fields">
    ${formError(refusal)}
    ${onceInput(once)}
    <div class="field">
      ${field(
        {
          label: 'Domain',
          name: 'domain',
          placeholder: 'shop.example.com',
          maxlength: 300,
          inputmode: 'url',
          autocomplete: 'off',
          hint: `A name that you own, such as shop.example.com or example.com.${hasWildcards ? wildcardHint : ''} The next step shows the DNS records to create; nothing changes for visitors yet.`,
        },
        refusal,
      )}
      ${pairBox(refusal)}
    </div>
    <button class="main">Add domain</button>
  </form>`;

const wildcardHint =
  ' A wildcard such as *.shop.example.com stands for every name one level below.';

const anyOther = 'www.example.com for example.com, or the other way round';

/**
 * Ticked until somebody unticks it. Where scripts run, it names the other name as one is typed, and is not shown for a name
 * that has none.
 */
const pairBox = (refusal: Refusal | undefined): Html => {
  const isTicked = refusal?.values['pair'] !== undefined || refusal === undefined;
  return html`<label class="option"><input type="checkbox" name="pair" value="yes" ${isTicked && html`checked`}>
    <span>Also add <span data-other-of="domain" data-from="${otherNamePath}" data-any="${anyOther}">${anyOther}</span>, and redirect it to this one</span></label>`;
};

const noDomainYet = ({ project, servedDeployId }: Site, plan: Plan): Html => {
  const planAllows = planAllowances[plan].domains > 0;
  const isDeployed = servedDeployId !== undefined;
  return empty(
    'No domain yet',
    'Give this site a name of your own. It is served over HTTPS, with a certificate that is issued and renewed automatically.',
    html`<ul class="bullets">
      ${need(
        planAllows,
        `The ${plan} plan includes custom domains.`,
        html`The ${plan} plan does not include custom domains; they need Pro or above. <a href="/dashboard/account">See your plan</a>`,
      )}
      ${need(
        isDeployed,
        'The site is deployed.',
        html`There is nothing to serve yet. <a href="/dashboard/projects/${project.slug}">Deploy the site</a>`,
      )}
    </ul>`,
  );
};

const need = (isMet: boolean, met: string, missing: Html): Html =>
  html`<li class="${isMet ? 'met good' : 'missing bad'}"><span>${isMet ? met : missing}</span></li>`;

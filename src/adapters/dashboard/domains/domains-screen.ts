import type { Context } from 'koa';
import * as v from 'valibot';
import type { Plan } from '../../../access/domain/quota.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { planAllowances } from '../../../sites/domain/project.ts';
import type { Site } from '../../../sites/domain/site.ts';
import { field, formError, onceInput } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { addressOf, listBar, noMatch, searchField } from '../frame/list-parts.ts';
import { empty, listPart, pager, planNames } from '../frame/parts.ts';
import { form, type Refusal, refusalOf, type Screen, type Visit } from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import type { DashboardPorts, DashboardSettings } from '../ports.ts';
import { projectHead, siteOf } from '../projects/project-head.ts';
import { noticeAfter, verification, verifyNotices } from './actions.ts';
import { askedList, domainRows, fewDomains, nextPage, stateFilter } from './list.ts';
import { domainPath, domainsPath, otherNamePath, placeOf } from './paths.ts';
import { severalNotices, verifyingSeveral } from './several.ts';

const path = domainsPath(':slug');
const pageSize = 50;

export const domainsScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
  help: 'domains',
  live: 'seldom',
  notices: { ...verifyNotices, ...severalNotices },
  show: showDomains(ports),
  forms: [addingOf(ports), verifyingOf(ports), verifyingSeveral(ports)],
  others: [{ method: 'GET', path: otherNamePath, answer: otherName(ports) }],
});

const showDomains = (ports: DashboardPorts) => async (visit: Visit, refusal?: Refusal) => {
  const { domains, ids, settings } = ports;
  const { query, may } = visit;
  const site = await siteOf(ports, visit);
  const { id, slug, name } = site.project;
  const { filter, text, after, address } = askedList(slug, query);
  const [counts, found, view] = await Promise.all([
    domains.countListed(id),
    domains.listDomainPage(id, { filter, text, after, limit: pageSize + 1 }),
    domains.showDomainSettings(id),
  ]);
  const { shown, last } = listPart(found, pageSize);
  const holds = await domains.showHolds(shown);
  const acted = await actedOn(ports, id, query);
  const { plan } = visit.signedIn.account;
  const all = counts.attached + counts.removed;
  const content = html`
    ${projectHead(site.project, 'domains', lead)}
    ${noticeAfter(visit, acted, domainPath(slug, acted?.id ?? ''))}
    ${may('domain.add') && adding({ plan, slug, once: ids.next('form'), hasWildcards: hasWildcards(settings, plan), refusal: refusalOf(refusal, 'add-domain') })}
    ${all > 0 && listBar(stateFilter(address, counts), all > fewDomains && searchField(address, 'Search domains'))}
    ${all === 0 && noDomainYet(site, plan)}
    ${all > 0 && shown.length === 0 && noMatch(address, 'domains')}
    ${shown.length > 0 && domainRows(shown, filter, { slug, visit, holds, refusal, view })}
    ${pager({ first: after && addressOf(address), next: nextPage(address, last), order: 'other' })}`;
  return { title: `Domains of ${name}`, content };
};

const lead = 'Serve this site under your own names, each with its own certificate.';

const actedOn = async (
  { domains }: Pick<DashboardPorts, 'domains'>,
  projectId: string,
  query: URLSearchParams,
): Promise<CustomDomain | undefined> => {
  const id = query.get('domain');
  return id === null || !query.has('done')
    ? undefined
    : domains.getDomain(projectId, id).catch(() => undefined);
};

const otherName =
  ({ domains }: Pick<DashboardPorts, 'domains'>) =>
  ({ query }: Visit, ctx: Context): Promise<undefined> => {
    ctx.type = 'text/plain; charset=utf-8';
    ctx.body = domains.showOther(query.get('name') ?? '')?.unicode ?? '';
    return Promise.resolve(undefined);
  };

const hasWildcards = ({ acmeDnsZone }: DashboardSettings, plan: Plan): boolean =>
  acmeDnsZone !== undefined && planAllowances[plan].hasWildcards;

const draft = v.object({
  domain: v.pipe(
    filled('Enter a domain, such as shop.example.com.'),
    v.maxLength(300, 'A domain has at most 253 characters.'),
  ),
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
      const typed =
        pair === undefined
          ? await addDomain(project, domain)
          : (await addPair(project, domain)).typed;
      return { to: domainPath(project.slug, typed.id), done: 'added' };
    },
  });

const verifyingOf = (ports: DashboardPorts) =>
  verification(
    ports,
    `${domainPath(':slug', ':domain')}/verify`,
    ({ slug }, { id }, { query }) => `${domainsPath(slug)}${placeOf(query, { domain: id })}#${id}`,
  );

interface Adding {
  readonly plan: Plan;
  readonly slug: string;
  readonly once: string;
  readonly hasWildcards: boolean;
  readonly refusal: Refusal | undefined;
}

const adding = (options: Adding): Html => {
  const { slug, once, hasWildcards, refusal } = options;
  return html`<form method="post" action="${domainsPath(slug)}" class="fields">
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
          hint: `A name that you own.${hasWildcards ? wildcardHint : ''} The next page shows the DNS records to create; nothing changes for visitors yet.`,
        },
        refusal,
      )}
      ${pairBox(refusal)}
    </div>
    <button class="main">Add domain</button>
  </form>`;
};

const wildcardHint = ' A wildcard such as *.shop.example.com covers every name one level below.';

const anyOther = 'www.example.com for example.com, or the other way round';

/**
 * The box is ticked by default. With scripts, it shows the other name while the person types, and is hidden if there is
 * none.
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
        `The ${planNames[plan]} plan includes custom domains.`,
        html`The ${planNames[plan]} plan does not include custom domains; they need Pro or above. <a href="/dashboard/account">See your plan</a>`,
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

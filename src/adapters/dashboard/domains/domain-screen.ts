import * as v from 'valibot';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isOpen, isVisited, projectHostsOf } from '../../../domains/domain/attachment/serving.ts';
import type { RecordZones } from '../../../domains/domain/dns/records.ts';
import { nameInText } from '../../../domains/domain/names/hostname.ts';
import { hindranceTo } from '../../../domains/domain/redirects/redirects.ts';
import type { DomainRole, DomainSettingsView } from '../../../domains/use-cases/domain-settings.ts';
import type { DomainView } from '../../../domains/use-cases/show-domain.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { formError } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { queryText } from '../frame/paths.ts';
import { form, type Refusal, refusalOf, type Screen, type Visit } from '../frame/screen.ts';
import { shownOnce } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { withHost } from '../projects/project-head.ts';
import { noticeAfter, domainMenu, verification, verifyForm, verifyNotices } from './actions.ts';
import { certificateSection } from './certificate.ts';
import { diagnosticsSection, problemCards } from './diagnostics.ts';
import { domainOf, domainPath, domainsPath, placeOf, redirectsPath, settingPath } from './paths.ts';
import { lossesOf } from './progress.ts';
import { leftRecords, recordsToCreate, recordsToKeep, whyDelete } from './records.ts';
import { shareForms, shareSection } from './shares.ts';
import { earlierSection, goneSection, nowSection } from './status.ts';
import { positionOf, timelineSection } from './timeline.ts';
import { domainHead, shownName, shownTarget, stateBadge } from './words.ts';

const path = domainPath(':slug', ':domain');

export const domainScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
  help: 'domains',
  live: 'seldom',
  notices: {
    ...verifyNotices,
    [shownOnce]:
      'This was already done, and the link was shown then. If you lost it, revoke it and create another.',
    'share-ended': 'The link is revoked. It has stopped working.',
    removed: 'The domain is removed, and nothing is served under it any more.',
  },
  show: async (visit: Visit, refusal?: Refusal, secret?: Html) => {
    const { project, domain } = await domainOf(ports, visit);
    const view = await ports.domains.showDomain(domain, positionOf(visit.query));
    const own = domainPath(project.slug, domain.id);
    const place = placeOf(visit.query);
    const actions = html`${visitLink(domain, ports.settings.siteUrl(project.slug))}${domainMenu(domain, view.role, project.slug, visit)}`;
    const shown = { ports, project, view, visit, refusal };
    const content = html`
      ${noticeAfter(visit, domain)}
      ${domainHead(project, domain, { actions, place })}
      ${secret}
      ${domain.state === 'removed' ? await gone(shown) : await sections(shown)}
      ${timelineSection(view.timeline, own, visit)}`;
    return { title: nameInText(domain), content };
  },
  forms: [
    verification(
      ports,
      path,
      ({ slug }, { id }, { query }) => domainPath(slug, id) + placeOf(query),
    ),
    ...shareForms(ports),
  ],
});

interface ShownDomain {
  readonly ports: DashboardPorts;
  readonly project: Project;
  readonly view: DomainView;
  readonly visit: Visit;
  readonly refusal: Refusal | undefined;
}

const gone = async ({ ports, project, view, visit: { now } }: ShownDomain): Promise<Html> => {
  const { domain } = view;
  const newest = await ports.domains.getDomain(project.id, domain.host);
  return newest.id === domain.id
    ? goneSection(view, ports.settings, now)
    : earlierSection(domain, newest, { path: domainPath(project.slug, newest.id), now });
};

const sections = async (shown: ShownDomain): Promise<Html> => {
  const { ports, project, view, visit, refusal } = shown;
  const { domain } = view;
  const { now } = visit;
  const own = domainPath(project.slug, domain.id);
  const verify = verifyForm(domain, {
    action: own + placeOf(visit.query),
    visit,
    refusal: refusalOf(refusal, 'verify'),
  });
  const sharing = {
    own,
    visit,
    once: ports.ids.next('form'),
    refusal: refusalOf(refusal, 'share'),
  };
  const shares = await ports.domains.listShares(domain);
  const other = domain.state === 'added' ? await ports.domains.findPartner(domain) : undefined;
  const all = other?.state === 'added' ? [view, await ports.domains.describeDomain(other)] : [view];
  return html`
    ${nowSection(view, now, verify)}
    ${isOpen(domain) && roleSection(domain, view.role, project.slug, visit)}
    ${problemCards(view, now)}
    ${domain.state === 'added' ? recordsToCreate(all, other && (await partnerNote(shown, other))) : recordsToKeep(view)}
    ${shareSection(domain, shares, sharing)}
    ${certificateSection(view, now)}
    ${diagnosticsSection(domain, all, now)}`;
};

const partnerNote = async (
  { ports: { domains }, project: { id, slug }, view }: ShownDomain,
  other: CustomDomain,
): Promise<Html> => {
  const attached = await domains.listDomains(id);
  const settings = await domains.showDomainSettings(id, attached);
  const note = pairNote(view.domain, other, { slug, view: settings, attached });
  return html`${note}<p class="hint">Its partner: <a href="${domainPath(slug, other.id)}">${shownName(other)}</a> ${stateBadge(other)}</p>`;
};

const roleSection = (
  domain: CustomDomain,
  role: DomainRole,
  slug: string,
  { may }: Visit,
): Html => {
  const { host } = domain;
  const { isPrimary, redirectsTo } = role;
  const mayChange = !isPrimary && may('domain.configure');
  const what =
    redirectsTo === undefined
      ? html`Serves the site${isPrimary && html`, and is its <strong>primary domain</strong>`}.`
      : html`Redirects to <strong>${shownTarget(redirectsTo)}</strong>.`;
  return html`<section class="row between part" aria-label="What visitors get">
    <p>${what}</p>
    <div class="row">
      ${
        isVisited(domain) &&
        mayChange &&
        html`<form method="post" action="${settingPath(slug, 'primary-domain')}" class="inline"><input type="hidden" name="primary" value="${host}"><button>Make primary</button></form>`
      }
      ${mayChange && html`<a class="button" href="${redirectsPath(slug)}${queryText({ from: host })}">${redirectsTo === undefined ? 'Redirect to …' : 'Change the redirect'}</a>`}
    </div>
  </section>`;
};

const visitLink = (domain: CustomDomain, siteUrl: string): Html | false =>
  isVisited(domain) &&
  html`<a class="button" href="${withHost(siteUrl, domain.host)}" rel="noopener">Visit</a>`;

const removePath = `${domainPath(':slug', ':domain')}/remove`;

export const removeDomainScreen = (ports: DashboardPorts): Screen => ({
  path: removePath,
  section: 'projects',
  help: 'domains',
  live: false,
  show: async (visit: Visit, refusal?: Refusal) => {
    const { project, domain } = await domainOf(ports, visit);
    const place = placeOf(visit.query);
    const content = html`
      ${domainHead(project, domain, { title: html`Remove ${shownName(domain)}?`, place })}
      ${confirmation(domain, project.slug, { zones: ports.settings, visit, refusal })}`;
    return { title: `Remove ${nameInText(domain)}`, content };
  },
  forms: [
    form({
      name: 'remove',
      operation: 'domain.remove',
      path: removePath,
      schema: v.object({ attachment: v.fallback(v.string(), '') }),
      act: async (visit, { attachment }) => {
        const { project, domain } = await domainOf(ports, visit);
        // A page from before the domain was removed and added again must not remove the new attachment.
        if (attachment !== '' && attachment !== domain.id) {
          throw new PageProblem(
            409,
            `${nameInText(domain)} was removed and added again in the meantime. Reload its page first.`,
          );
        }
        await ports.domains.removeDomain(domain);
        const page = domainPath(project.slug, domain.id);
        return { to: page + placeOf(visit.query), done: 'removed' };
      },
    }),
  ],
});

interface Removal {
  readonly zones: RecordZones;
  readonly visit: Visit;
  readonly refusal: Refusal | undefined;
}

const confirmation = (
  domain: CustomDomain,
  slug: string,
  { zones, visit, refusal }: Removal,
): Html => {
  const { id, state } = domain;
  const place = placeOf(visit.query);
  const back = domainPath(slug, id);
  if (state === 'removed') {
    return html`<section class="card">
      <p>The domain is removed already, and nothing is served under it any more. Delete its records at your DNS provider. ${whyDelete}</p>
      ${leftRecords(domain, zones)}
      <p><a href="${domainsPath(slug)}${place}">Back to the domains</a></p>
    </section>`;
  }
  return html`<section class="card problem bad">
    <ul class="bullets">
      ${lossesOf(domain).map((loss) => html`<li>${loss}</li>`)}
      <li>Redirects from it and to it stop working.</li>
      <li>The site itself stays. Adding the name again starts over, with different records.</li>
    </ul>
    <p>Then delete these records at your DNS provider. ${whyDelete}</p>
    ${leftRecords(domain, zones)}
    ${
      visit.may('domain.remove') &&
      html`<form method="post" action="${back}/remove${place}" class="row">
      ${formError(refusal)}
      <input type="hidden" name="attachment" value="${id}">
      <button class="danger">Remove domain</button>
      <a class="button bare" href="${back}${place}">Cancel</a>
    </form>`
    }
  </section>`;
};

interface PairedProject {
  readonly slug: string;
  readonly view: DomainSettingsView;
  readonly attached: readonly CustomDomain[];
}

const pairNote = (
  typed: CustomDomain,
  other: CustomDomain,
  { slug, view, attached }: PairedProject,
): Html => {
  const { domains } = view.document;
  for (const [from, to] of [
    [other, typed],
    [typed, other],
  ] as const) {
    if (!domains.redirects.some((one) => one.from === from.host && one.to === to.host)) continue;
    return html`<p class="hint">${shownName(from)} redirects to ${shownName(to)} <a href="${redirectsPath(slug)}">as soon as both are live</a>. Until then, a live one shows the site.</p>`;
  }
  const redirect = { from: other.host, to: typed.host };
  const why = hindranceTo(redirect, domains, { hosts: projectHostsOf(attached) });
  return why === undefined
    ? nothing
    : html`<p class="notice busy">${shownName(other)} does not redirect to ${shownName(typed)}: ${why} Both show the site once they are live.</p>`;
};

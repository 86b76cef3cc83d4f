import * as v from 'valibot';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { nameInText } from '../../../domains/domain/names/hostname.ts';
import { isVisited } from '../../../domains/domain/attachment/serving.ts';
import type { RecordZones } from '../../../domains/domain/dns/records.ts';
import type { DomainView } from '../../../domains/use-cases/show-domain.ts';
import { formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { form, type Refusal, refusalOf, type Screen, type Visit } from '../frame/screen.ts';
import { shownOnce } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { withHost } from '../projects/project-head.ts';
import { noticeAfter, domainMenu, verification, verifyForm, verifyNotices } from './actions.ts';
import { certificateSection } from './certificate.ts';
import { problemCards, resolverSection } from './diagnostics.ts';
import { domainOf, domainPath, domainsPath } from './paths.ts';
import { lossesOf } from './progress.ts';
import { leftRecords, recordsSection, whyDelete } from './records.ts';
import { shareForms, shareSection } from './shares.ts';
import { earlierSection, goneSection, nowSection } from './status.ts';
import { positionOf, timelineSection } from './timeline.ts';
import { domainHead, shownName } from './words.ts';

const path = domainPath(':slug', ':host');

export const domainScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
  help: 'domains',
  live: ({ parameters }) =>
    ports.domains.fingerprint(parameters['slug'] ?? '', parameters['host'] ?? ''),
  notices: {
    ...verifyNotices,
    [shownOnce]:
      'This was already done, and the link was shown then. If you lost it, revoke it and create another.',
    'share-ended': 'The link is revoked. It has stopped working.',
  },
  show: async (visit: Visit, refusal?: Refusal, secret?: Html) => {
    const { project, domain } = await domainOf(ports, visit);
    const { now, query } = visit;
    const view = await ports.domains.showDomain(domain, positionOf(query));
    const own = domainPath(project.slug, domain.host);
    const refused = refusalOf(refusal, 'verify');
    const verify = verifyForm(domain, { action: own, now, refusal: refused, alsoLive: true });
    const actions = html`${visitLink(domain, ports.settings.siteUrl(project.slug))}${domainMenu(domain, project.slug, view.role)}`;
    const gone = async () => {
      const newest = await ports.domains.getDomain(project.id, domain.host);
      return newest.id === domain.id
        ? goneSection(view, ports.settings, now)
        : earlierSection(domain, newest, { path: own, now });
    };
    const sharing = async () =>
      shareSection(domain, await ports.domains.listShares(domain), {
        path: own,
        now,
        once: ports.ids.next('form'),
        refusal: refusalOf(refusal, 'share'),
      });
    const content = html`
      ${noticeAfter(query, domain)}
      ${domainHead(project, domain, { actions })}
      ${secret}
      ${domain.state === 'removed' ? await gone() : html`${sections(view, now, verify)}${await sharing()}`}
      ${timelineSection(view.timeline, own, visit)}`;
    return { title: nameInText(domain), content };
  },
  forms: [
    verification(ports, path, ({ slug }, { host }) => domainPath(slug, host)),
    ...shareForms(ports),
  ],
});

/** Shows the records first until they are correct, afterwards the certificate. */
const sections = (view: DomainView, now: Date, verify: Html): Html => {
  const { domain } = view;
  const records = recordsSection(view);
  const resolvers = resolverSection(domain.dns.report, now);
  const certificate = certificateSection(view, now);
  return html`
    ${nowSection(view, now, verify)}
    ${problemCards(view, now)}
    ${domain.state === 'added' ? [records, resolvers, certificate] : [certificate, records, resolvers]}`;
};

const visitLink = (domain: CustomDomain, siteUrl: string): Html | false =>
  isVisited(domain) &&
  html`<a class="button" href="${withHost(siteUrl, domain.host)}" rel="noopener">Visit</a>`;

const removePath = `${domainPath(':slug', ':host')}/remove`;

export const removeDomainScreen = (ports: DashboardPorts): Screen => ({
  path: removePath,
  section: 'projects',
  help: 'domains',
  live: false,
  show: async (visit: Visit, refusal?: Refusal) => {
    const { project, domain } = await domainOf(ports, visit);
    const content = html`
      ${domainHead(project, domain, { title: html`Remove ${shownName(domain)}?` })}
      ${confirmation(domain, project.slug, { zones: ports.settings, refusal })}`;
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
        // An old page, from before the domain was removed and added again, must not remove the new one.
        if (attachment !== '' && attachment !== domain.id) {
          throw new PageProblem(
            409,
            `${nameInText(domain)} was removed and added again in the meantime. Reload its page first.`,
          );
        }
        await ports.domains.removeDomain(domain);
        return { to: `${domainsPath(project.slug)}?host=${domain.host}`, done: 'removed' };
      },
    }),
  ],
});

const confirmation = (
  domain: CustomDomain,
  slug: string,
  { zones, refusal }: { readonly zones: RecordZones; readonly refusal: Refusal | undefined },
): Html => {
  const { id, host, state } = domain;
  const back = domainPath(slug, host);
  if (state === 'removed') {
    return html`<section class="card">
      <p>The domain is removed already, and nothing is served under it any more. Delete its records at your DNS provider. ${whyDelete}</p>
      ${leftRecords(domain, zones)}
      <p><a href="${domainsPath(slug)}">Back to the domains</a></p>
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
    <form method="post" action="${back}/remove" class="row">
      ${formError(refusal)}
      <input type="hidden" name="attachment" value="${id}">
      <button class="danger">Remove domain</button>
      <a class="button bare" href="${back}">Cancel</a>
    </form>
  </section>`;
};

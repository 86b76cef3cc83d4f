import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isVisited } from '../../../domains/domain/attachment/serving.ts';
import type { DomainView } from '../../../domains/use-cases/show-domain.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { domainMenu, verifyForm } from './actions.ts';
import { certificateSection } from './certificate.ts';
import { domainHead } from './head.ts';
import { afterwards, verification, verifyNotices } from './notices.ts';
import { earlierSection, goneSection, nowSection } from './now.ts';
import { domainOf, domainPath } from './paths.ts';
import { problemCards } from './problems.ts';
import { recordsSection } from './records.ts';
import { shareForms, shareSection } from './shares.ts';
import { resolverSection } from './resolvers.ts';
import { positionOf, timelineSection } from './timeline.ts';
import { nameInText } from './words.ts';
import { html, type Html } from '../frame/html.ts';
import { shownOnce } from '../frame/act-once.ts';
import { withHost } from '../projects/site-of.ts';
import { refusalOf, type Refusal, type Screen, type Visit } from '../frame/screen.ts';

const path = domainPath(':slug', ':host');

export const domainScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
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
        ...{ path: own, now, once: ports.ids.next('form') },
        refusal: refusalOf(refusal, 'share'),
      });
    const content = html`
      ${afterwards(query, domain)}
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

import type Router from '@koa/router';
import type { Context } from 'koa';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { nameInText } from '../../../domains/domain/names/hostname.ts';
import {
  type DomainShare,
  mostShares,
  shareDays,
} from '../../../domains/domain/attachment/share.ts';
import type { MadeShare, SharedDomain } from '../../../domains/use-cases/show-domain.ts';
import { buttonForm, formError, onceInput } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { sendAlone } from '../frame/layout.ts';
import {
  counted,
  day,
  end,
  folded,
  head,
  known,
  planned,
  secretCard,
  table,
  time,
} from '../frame/parts.ts';
import { sharedPath } from '../frame/paths.ts';
import { bareForm, type Form, type Refusal, type Shown, type Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { networkOf } from '../sign-in/session.ts';
import { healthBadges } from './certificate.ts';
import { diagnosticsSection, problemCards } from './diagnostics.ts';
import { domainOf, domainPath, placeOf } from './paths.ts';
import { sharedSentenceOf } from './progress.ts';
import { recordsToCreate, recordsToKeep } from './records.ts';
import { stepLine, stepsOf } from './status.ts';
import { nameOf, shownName, stateBadge } from './words.ts';

type Ports = Pick<DashboardPorts, 'sites' | 'domains' | 'settings'>;

const path = `${domainPath(':slug', ':domain')}/links`;

export const shareForms = (ports: Ports): readonly Form[] => [
  bareForm({
    name: 'share',
    operation: 'domain.share',
    showsSecret: true,
    path,
    once: true,
    act: async (visit) => {
      const { project, domain } = await domainOf(ports, visit);
      const share = await ports.domains.makeShare(domain);
      const way = domainPath(project.slug, domain.id) + placeOf(visit.query);
      return { ...shownLink(domain, share, { ports, way }), status: 201 };
    },
  }),
  bareForm({
    name: 'end-share',
    operation: 'domain.share',
    path: `${path}/:share/revoke`,
    act: async (visit) => {
      const { project, domain } = await domainOf(ports, visit);
      await ports.domains.revokeShare(domain, visit.parameters['share'] ?? '');
      const way = domainPath(project.slug, domain.id) + placeOf(visit.query);
      return { to: way, done: 'share-ended' };
    },
  }),
];

const shownLink = (
  domain: CustomDomain,
  { secret, endsAt }: MadeShare,
  { ports, way }: { readonly ports: Pick<Ports, 'settings'>; readonly way: string },
): Omit<Shown, 'status'> => ({
  title: `A link for ${nameInText(domain)}`,
  secret: secretCard({
    id: 'link-title',
    heading: html`Your link for ${shownName(domain)}`,
    advice: html`Send it to the person who manages the DNS of ${shownName(nameOf(domain.registrableDomain))}. It works without signing in, until ${day(endsAt)}. <strong>It is not shown again</strong>; you can make another one at any time.`,
    secret: `${ports.settings.origin}${sharedPath(secret)}`,
    what: 'link',
    next: { to: way, label: 'I have sent it' },
  }),
});

interface ShareOptions {
  readonly own: string;
  readonly visit: Visit;
  readonly once: string;
  readonly refusal: Refusal | undefined;
}

export const shareSection = (
  domain: CustomDomain,
  shares: readonly DomainShare[],
  { own, visit, once, refusal }: ShareOptions,
): Html =>
  folded(
    {
      id: 'links',
      title: 'Ask whoever looks after your DNS',
      isOpen: refusal !== undefined || shares.length > 0,
    },
    html`<p class="hint">Does somebody else manage the DNS of ${shownName(nameOf(domain.registrableDomain))}? Send them a link to a page with these records, the problems, and whether we see the change yet. It needs no sign-in and shows nothing else of your account. It ends after ${shareDays} days, with the domain, or when you revoke it.</p>
    ${shares.length > 0 && shareTable(shares, own, visit)}
    ${formError(refusal)}
    ${
      shares.length < mostShares
        ? visit.may('domain.share') &&
          html`<form method="post" action="${own}/links${placeOf(visit.query)}" class="row">
            ${onceInput(once)}
            <button>Create link</button>
          </form>`
        : html`<p class="hint">This domain has ${counted(mostShares, 'link')}, the maximum. Revoke one to create another.</p>`
    }`,
  );

const shareTable = (
  shares: readonly DomainShare[],
  own: string,
  { query, now, may }: Visit,
): Html =>
  table(
    shares,
    [
      ['Link', 'row', ({ createdAt }) => html`<div>made ${time(createdAt, now)}</div>`],
      ['Ends', 'text', ({ endsAt }) => time(endsAt, now)],
      [
        'Actions',
        'actions',
        ({ id, createdAt }) =>
          may('domain.share') &&
          buttonForm(`${own}/links/${id}/revoke${placeOf(query)}`, 'Revoke', {
            about: `Revoke the link that was created at ${createdAt.toISOString()}`,
          }),
      ],
    ],
    { idOf: ({ id }) => id },
  );

type SharedPorts = Pick<DashboardPorts, 'domains' | 'access' | 'networkOf' | 'clock'>;

/** The page refreshes rarely, because each request counts towards the limit of the visitor's network. */
const refreshSeconds = 10;

/**
 * Adds the page behind a link to one domain, for visitors who are not signed in. It shows nothing else of the account,
 * even to visitors who are signed in.
 */
export const addSharedDomains = (router: Router, ports: SharedPorts): void => {
  router.get(sharedPath(':secret'), async (ctx: Context) => {
    ctx.set({
      'X-Robots-Tag': 'noindex, nofollow, noarchive',
      'Referrer-Policy': 'no-referrer',
    });
    await ports.access.admitSharedPage(networkOf(ctx, ports));
    const { secret = '' } = ctx['params'] as Readonly<Record<string, string>>;
    const shared = await ports.domains.showShared(secret);
    const now = ports.clock.now();
    const page = {
      title: `DNS records of ${nameInText(shared.domain)}`,
      content: contentOf(shared, now),
    };
    await sendAlone(ctx, page, { now, unlisted: { refreshSeconds } });
  });
};

const contentOf = (shared: SharedDomain, now: Date): Html => {
  const { domain } = shared;
  return html`
    ${head(shownName(domain), leadOf(domain), { beside: stateBadge(domain) })}
    ${statusSection(shared, now)}
    ${problemCards(shared, now)}
    ${domain.state === 'added' ? recordsToCreate([shared]) : recordsToKeep(shared)}
    ${diagnosticsSection(shared.domain, [shared], now)}
    <p class="hint">This link works for everybody who has it, until ${end(shared.share.endsAt, now)}. It shows this one name, and nothing can be changed here.</p>`;
};

const leadOf = ({ state, registrableDomain }: CustomDomain): Html => {
  const zone = html`<strong>${shownName(nameOf(registrableDomain))}</strong>`;
  return state === 'added'
    ? html`You got this link because you manage the DNS of ${zone}. Please create the records below at its DNS provider. This page follows what we see of them.`
    : html`You got this link because you manage the DNS of ${zone}. Please keep the records below at its DNS provider. This page follows what we see of them.`;
};

const statusSection = ({ domain, health, nextAt, role }: SharedDomain, now: Date): Html => {
  const { lastCheckedAt } = domain.dns;
  const facts = known([
    health && ['Health', healthBadges[health.kind]],
    lastCheckedAt && ['DNS checked', time(lastCheckedAt, now)],
    nextAt && ['Next automatic check', planned(nextAt, now)],
  ]);
  return html`<section class="card" aria-label="Status">
    ${stepLine(stepsOf(domain, now), now)}
    <div class="row between">
      <p class="sentence">${sharedSentenceOf(domain, now, role.redirectsTo)}</p>
      <noscript><a class="button" href="">Look again</a></noscript>
    </div>
    <dl class="row blocks">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  </section>`;
};

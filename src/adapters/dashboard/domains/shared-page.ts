import type Router from '@koa/router';
import type { Context } from 'koa';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { SharedDomain } from '../../../domains/use-cases/show-domain.ts';
import { sendHtml } from '../frame/answering.ts';
import { html, type Html } from '../frame/html.ts';
import { layout } from '../frame/layout.ts';
import { planned, end, known, time } from '../frame/parts.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { healthBadges } from './certificate.ts';
import { sharedPath } from './paths.ts';
import { problemCards } from './problems.ts';
import { sharedSentenceOf } from './progress.ts';
import { recordsSection } from './records.ts';
import { resolverSection } from './resolvers.ts';
import { stepLine, stepsOf } from './steps.ts';
import { nameInText, nameOf, shownName, stateBadge } from './words.ts';

type Ports = Pick<DashboardPorts, 'domains' | 'access' | 'networkOf' | 'clock'>;

/** Each request counts towards the limit of its network, so it asks rarely. */
const refreshSeconds = 10;

/**
 * The page behind a link to one domain, for somebody who is not signed in. It shows nothing else of the account, also to
 * those who are signed in.
 */
export const addSharedDomains = (router: Router, ports: Ports): void => {
  router.get(sharedPath(':secret'), async (ctx: Context) => {
    ctx.set({
      'X-Robots-Tag': 'noindex, nofollow, noarchive',
      // It has no form, and its address is a secret.
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
    const nobody = { section: undefined, signedIn: undefined, unread: 0 };
    await sendHtml(ctx, 200, layout(page, { ...nobody, now, unlisted: { refreshSeconds } }));
  });
};

const networkOf = (ctx: Context, ports: Pick<Ports, 'networkOf'>): string =>
  ports.networkOf({
    peer: ctx.req.socket.remoteAddress ?? '',
    forwardedFor: ctx.get('X-Forwarded-For') || undefined,
  });

const contentOf = (shared: SharedDomain, now: Date): Html => {
  const { domain } = shared;
  return html`
    <div class="head">
      <div class="row"><h1>${shownName(domain)}</h1>${stateBadge(domain)}</div>
      <p class="lead">${leadOf(domain)}</p>
    </div>
    ${statusSection(shared, now)}
    ${problemCards(shared, now)}
    ${recordsSection(shared)}
    ${resolverSection(domain.dns.report, now)}
    <p class="hint">This link works for everybody who has it, until ${end(shared.share.endsAt, now)}. It shows this one name, and nothing can be changed here.</p>`;
};

const leadOf = ({ state, registrableDomain }: CustomDomain): Html => {
  const zone = html`<strong>${shownName(nameOf(registrableDomain))}</strong>`;
  return state === 'added'
    ? html`You got this link because you look after the DNS of ${zone}. Please create the records below at its DNS provider. This page follows what we see of them.`
    : html`You got this link because you look after the DNS of ${zone}. Please keep the records below at its DNS provider. This page follows what we see of them.`;
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

import {
  mostShares,
  shareDays,
  type DomainShare,
} from '../../../domains/domain/attachment/share.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { MadeShare } from '../../../domains/use-cases/show-domain.ts';
import { buttonForm, formError, onceInput } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { copyable, counted, day, time } from '../frame/parts.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { bareForm, type Form, type Refusal, type Shown } from '../frame/screen.ts';
import { table } from '../frame/table.ts';
import { domainOf, domainPath, sharedPath } from './paths.ts';
import { nameInText, nameOf, shownName } from './words.ts';

type Ports = Pick<DashboardPorts, 'sites' | 'domains' | 'settings'>;

const path = `${domainPath(':slug', ':host')}/links`;

/** The forms that make and end links to the page of a domain for somebody who is not signed in. */
export const shareForms = (ports: Ports): readonly Form[] => [
  bareForm({
    name: 'share',
    path,
    once: true,
    act: async (visit) => {
      const { project, domain } = await domainOf(ports, visit);
      const share = await ports.domains.makeShare(domain);
      const way = domainPath(project.slug, domain.host);
      return { ...shownLink(domain, share, { ports, way }), status: 201 };
    },
  }),
  bareForm({
    name: 'end-share',
    path: `${path}/:share/revoke`,
    act: async (visit) => {
      const { project, domain } = await domainOf(ports, visit);
      await ports.domains.revokeShare(domain, visit.parameters['share'] ?? '');
      return { to: domainPath(project.slug, domain.host), done: 'share-ended' };
    },
  }),
];

/** A link, shown only once. @param way back to the page of the domain */
const shownLink = (
  domain: CustomDomain,
  { secret, endsAt }: MadeShare,
  { ports, way }: { readonly ports: Pick<Ports, 'settings'>; readonly way: string },
): Omit<Shown, 'status'> => ({
  title: `A link for ${nameInText(domain)}`,
  secret: html`<section class="card secret" aria-labelledby="link-title">
    <h2 id="link-title">Your link for ${shownName(domain)}</h2>
    <p>Send it to the person who looks after the DNS of ${shownName(nameOf(domain.registrableDomain))}. It works without signing in, until ${day(endsAt)}. <strong>It is not shown again</strong>; you can make another one at any time.</p>
    ${copyable(`${ports.settings.origin}${sharedPath(secret)}`, 'link')}
    <p><a class="button" href="${way}">I have sent it</a></p>
  </section>`,
});

export interface ShareOptions {
  /** Of the domain's page. */
  readonly path: string;
  readonly now: Date;
  /** For `onceInput`. */
  readonly once: string;
  readonly refusal: Refusal | undefined;
}

export const shareSection = (
  domain: CustomDomain,
  shares: readonly DomainShare[],
  { path: own, now, once, refusal }: ShareOptions,
): Html => html`<section class="card" id="all-links" aria-labelledby="links">
    <h2 id="links">Ask whoever looks after your DNS</h2>
    <p class="hint">Does somebody else manage the DNS of ${shownName(nameOf(domain.registrableDomain))}? Send them a link to a page with these records, the problems, and whether we see the change yet. It needs no sign-in and shows nothing else of your account. It ends after ${shareDays} days, with the domain, or when you revoke it.</p>
    ${shares.length > 0 && shareTable(shares, own, now)}
    ${formError(refusal)}
    ${
      shares.length < mostShares
        ? html`<form method="post" action="${own}/links" class="row">
            ${onceInput(once)}
            <button>Create link</button>
          </form>`
        : html`<p class="hint">There are ${counted(mostShares, 'link')}, which is the most for one domain. Revoke one to create another.</p>`
    }
  </section>`;

const shareTable = (shares: readonly DomainShare[], own: string, now: Date): Html =>
  table(shares, [
    ['Link', 'row', ({ createdAt }) => html`<div>made ${time(createdAt, now)}</div>`],
    ['Ends', 'text', ({ endsAt }) => time(endsAt, now)],
    [
      'Actions',
      'actions',
      ({ id, createdAt }) =>
        buttonForm(`${own}/links/${id}/revoke`, 'Revoke', {
          about: `Revoke the link that was made at ${createdAt.toISOString()}`,
        }),
    ],
  ]);

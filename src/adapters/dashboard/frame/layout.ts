import type { Context } from 'koa';
import type { SignedIn } from '../../../access/people-ports.ts';
import { mostCounted } from '../../../notifications/notifications.ts';
import type { Reader } from '../../../notifications/ports.ts';
import { html, type Html } from './html.ts';
import { noticesPath } from './paths.ts';
import { assetPath, sendHtml } from './responses.ts';
import type { Page, Section } from './screen.ts';

export const readerOf = ({ account, person }: SignedIn): Reader => ({
  accountId: account.id,
  personId: person.id,
});

/**
 * The way to the notices, with the number of unread ones. A form, because it marks them as read: no browser sends one
 * before somebody presses it.
 */
export const bell = (unread: number): Html => {
  const number = unread < mostCounted ? String(unread) : `${mostCounted - 1}+`;
  const label = unread === 0 ? 'Notices' : `Notices, ${number} unread`;
  return html`<form method="post" action="${noticesPath}" class="inline bell" data-bell><button class="bare" aria-label="${label}" title="${label}">${icon}${unread > 0 && html`<span class="count" aria-hidden="true">${number}</span>`}</button></form>`;
};

const icon = html`<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="M6 16V10a6 6 0 0 1 12 0v6l1.5 2h-15zM10 20.5a2.2 2.2 0 0 0 4 0" /></svg>`;

const places: Readonly<Record<Section, { readonly path: string; readonly text: string }>> = {
  projects: { path: '/dashboard', text: 'Projects' },
  animals: { path: '/dashboard/animals', text: 'Animals' },
  keys: { path: '/dashboard/keys', text: 'API keys' },
  webhooks: { path: '/dashboard/webhooks', text: 'Webhooks' },
  usage: { path: '/dashboard/usage', text: 'Usage' },
  account: { path: '/dashboard/account', text: 'Account' },
  notices: { path: noticesPath, text: 'Notices' },
};
const { notices: _, ...inNavigation } = places;

export const sectionPath = (section: Section): string => places[section].path;

export interface Frame {
  readonly section: Section | undefined;
  readonly signedIn: SignedIn | undefined;
  readonly unread: number;
  /** Of a page that tells times: the script goes by this clock, because the one of the device may be wrong. */
  readonly now?: Date | undefined;
  readonly notice?: Html | string | undefined;
  readonly live?: string | undefined;
  /** For a page whose address is a secret: nobody is to list it, and it is asked for again, since it has no stream. */
  readonly unlisted?: { readonly refreshSeconds: number };
}

export const layout = ({ title, content }: Page, frame: Frame): string =>
  `<!doctype html>\n${html`<html lang="en" ${frame.now && html`data-now="${frame.now.toISOString()}"`}>
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  ${frame.unlisted && unlistedMeta}
  <title>${title} · Animal Store</title>
  <link rel="icon" href="${assetPath('paw.svg')}" type="image/svg+xml">
  <link rel="stylesheet" href="${assetPath('dashboard.css')}">
  <script type="module" src="${assetPath('dashboard.js')}"></script>
</head>
<body>
  <a class="skip" href="#main">Skip to content</a>
  ${frame.signedIn ? bar(frame.signedIn, frame) : html`<header class="bar">${brand()}</header>`}
  ${mainOf(content, frame)}
</body>
</html>`.toString()}\n`;

/** Without a script the whole page is loaded again, which moves its reader: so not as often. */
const unlistedMeta = html`<meta name="robots" content="noindex, nofollow, noarchive">
  <meta name="referrer" content="no-referrer">
  <noscript><meta http-equiv="refresh" content="60"></noscript>`;

/** The part of a page that live updates replace. */
export const mainOf = (
  content: Html,
  { notice, live, unlisted }: Pick<Frame, 'notice' | 'live' | 'unlisted'>,
): Html =>
  html`<main id="main" tabindex="-1" ${live !== undefined && html`data-live="${live}"`} ${unlisted && html`data-refresh="${unlisted.refreshSeconds}"`}>
    ${notice !== undefined && html`<p class="notice good" data-said role="status">${notice}</p>`}
    ${content}
  </main>`;

const brand = (): Html =>
  html`<a class="row brand" href="/dashboard"><img src="${assetPath('paw.svg')}" alt="" width="24" height="24"><span>Animal Store</span></a>`;

const bar = (
  { account, person, session }: SignedIn,
  { section, unread }: Pick<Frame, 'section' | 'unread'>,
): Html =>
  html`<header class="bar">
    ${brand()}
    <nav aria-label="Main">
      ${Object.entries(inNavigation).map(([name, { path, text }]) => html`<a href="${path}" ${name === section && html`aria-current="page"`}>${text}</a>`)}
    </nav>
    <div class="row hint who">
      ${session.others.length === 0 ? html`<span title="${account.name}, ${person.email}">${account.name}</span>` : html`<a href="/dashboard/accounts" title="${account.name}: switch to another account">${account.name}</a>`}
      ${bell(unread)}
      <form method="post" action="/dashboard/sign-out" class="inline"><button class="bare">Sign out</button></form>
    </div>
  </header>`;

/** A page of somebody who is not signed in. */
export const sendAlone = (
  ctx: Context,
  page: Page,
  frame: Pick<Frame, 'now' | 'unlisted'> = {},
): Promise<void> => {
  const nobody = { section: undefined, signedIn: undefined, unread: 0 };
  return sendHtml(ctx, page.status ?? 200, layout(page, { ...nobody, ...frame }));
};

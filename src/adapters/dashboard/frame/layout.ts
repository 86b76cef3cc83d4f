import type { Context } from 'koa';
import type { SignedIn } from '../../../access/people-ports.ts';
import { mostUnread } from '../../../notifications/notifications.ts';
import type { Reader } from '../../../notifications/ports.ts';
import { html, type Html } from './html.ts';
import { type HelpPage, helpPath, mePath, noticesPath, searchPath } from './paths.ts';
import { assetPath, sendHtml } from './responses.ts';
import type { Page, Section } from './screen.ts';

export const readerOf = ({ account, person }: SignedIn): Reader => ({
  accountId: account.id,
  personId: person.id,
});

/**
 * Shows a link to the notices with the number of unread ones. It is a form, because it marks them as read, and browsers
 * never prefetch forms.
 */
export const bell = (unread: number): Html => {
  const number = unread < mostUnread ? String(unread) : `${mostUnread - 1}+`;
  const label = unread === 0 ? 'Notices' : `Notices, ${number} unread`;
  return html`<form method="post" action="${noticesPath}" class="inline bell" data-bell><button class="bare icon" aria-label="${label}" title="${label}">${icons.bell}${unread > 0 && html`<span class="count" aria-hidden="true">${number}</span>`}</button></form>`;
};

const drawn = (path: string): Html =>
  html`<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="${path}" /></svg>`;

const icons = {
  bell: drawn('M6 16V10a6 6 0 0 1 12 0v6l1.5 2h-15zM10 20.5a2.2 2.2 0 0 0 4 0'),
  help: drawn(
    'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M9.6 9.6a2.5 2.5 0 1 1 3.4 2.4c-.7.3-1 .8-1 1.7M12 16.8v.1',
  ),
  menu: drawn('M4 7h16M4 12h16M4 17h16'),
  person: drawn('M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4.5 20.5c1-4 4-5.5 7.5-5.5s6.5 1.5 7.5 5.5'),
  search: drawn('M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M15.5 15.5 20.5 20.5'),
  switch: drawn('M8 9.5l4-4 4 4M8 14.5l4 4 4-4'),
} as const;

/**
 * The sections in the order of the navigation, each with its page and the matching `help` page of docs/. Sections with
 * `isAside` are not in the navigation.
 */
const places: Readonly<Record<Section, Place>> = {
  projects: { path: '/dashboard', text: 'Projects', help: 'sites' },
  animals: { path: '/dashboard/animals', text: 'Animals', help: 'dashboard' },
  orders: { path: '/dashboard/orders', text: 'Orders', help: 'dashboard' },
  keys: { path: '/dashboard/keys', text: 'API keys', help: 'api' },
  webhooks: { path: '/dashboard/webhooks', text: 'Webhooks', help: 'webhooks' },
  usage: { path: '/dashboard/usage', text: 'Usage', help: 'limits' },
  account: { path: '/dashboard/account', text: 'Account', help: 'dashboard' },
  notices: { path: noticesPath, text: 'Notices', help: 'notifications', isAside: true },
  search: { path: searchPath, text: 'Search', help: 'dashboard', isAside: true },
  help: { path: helpPath('dashboard'), text: 'Help', help: 'dashboard', isAside: true },
};

interface Place {
  readonly path: string;
  readonly text: string;
  readonly help: HelpPage;
  readonly isAside?: true;
}

export const sectionPath = (section: Section): string => places[section].path;

export interface Frame {
  readonly section: Section | undefined;
  readonly help?: HelpPage | undefined;
  readonly signedIn: SignedIn | undefined;
  readonly unread: number;
  /** The script uses this clock to show times, because the device's clock may be wrong. */
  readonly now?: Date | undefined;
  readonly notice?: Html | string | undefined;
  readonly live?: string | undefined;
  /** For a page with a secret address: search engines must not list it, and it polls, because it has no stream. */
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
<body ${frame.signedIn && html`class="framed"`}>
  <a class="skip" href="#main">Skip to content</a>
  ${frame.signedIn ? [bar(frame.signedIn, frame), navigation(frame)] : html`<header class="bar">${brand()}</header>`}
  ${mainOf(content, frame)}
</body>
</html>`.toString()}\n`;

/** Without scripts the whole page reloads, which loses the scroll position, so it reloads less often. */
const unlistedMeta = html`<meta name="robots" content="noindex, nofollow, noarchive">
  <meta name="referrer" content="no-referrer">
  <noscript><meta http-equiv="refresh" content="60"></noscript>`;

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
  { section, help, unread }: Pick<Frame, 'section' | 'help' | 'unread'>,
): Html =>
  html`<header class="bar">
    <button type="button" class="bare icon menu-opener" popovertarget="navigation" aria-label="Menu">${icons.menu}</button>
    ${brand()}
    <div class="who">${session.others.length === 0 ? html`<span title="${account.name}">${account.name}</span>` : html`<a href="/dashboard/accounts" title="${account.name}: switch to another account">${account.name} ${icons.switch}</a>`}</div>
    <form action="${searchPath}" class="search" role="search">
      <input type="search" name="q" aria-label="Search projects, domains and animals" placeholder="Search projects, domains, animals" maxlength="200" autocomplete="off" data-search><kbd aria-hidden="true">/</kbd>
    </form>
    <a class="button bare icon search-opener" href="${searchPath}" aria-label="Search">${icons.search}</a>
    <a class="button bare icon" href="${helpPath(help ?? places[section ?? 'help'].help)}" aria-label="Help" title="Help for this page">${icons.help}</a>
    ${bell(unread)}
    <button type="button" class="bare icon" popovertarget="person" aria-haspopup="menu" aria-label="Your menu" title="${person.email}">${icons.person}</button>
    <div popover role="menu" class="menu" id="person" aria-label="Your menu">
      <p class="hint" role="none">${person.email}</p>
      <a role="menuitem" href="${mePath}">Your profile</a>
      <form role="none" method="post" action="/dashboard/sign-out"><button role="menuitem">Sign out</button></form>
    </div>
  </header>`;

const navigation = ({ section }: Pick<Frame, 'section'>): Html =>
  html`<nav popover id="navigation" class="side" aria-label="Main">
    ${Object.entries(places).map(([name, { path, text, isAside }]) => !isAside && html`<a href="${path}" ${name === section && html`aria-current="page"`}>${text}</a>`)}
  </nav>`;

export const sendAlone = (
  ctx: Context,
  page: Page,
  frame: Pick<Frame, 'now' | 'unlisted'> = {},
): Promise<void> => {
  const nobody = { section: undefined, signedIn: undefined, unread: 0 };
  return sendHtml(ctx, page.status ?? 200, layout(page, { ...nobody, ...frame }));
};

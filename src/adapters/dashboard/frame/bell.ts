import type { SignedIn } from '../../../access/people-ports.ts';
import { mostCounted } from '../../../notifications/notifications.ts';
import type { Reader } from '../../../notifications/ports.ts';
import { html, type Html } from './html.ts';

export const noticesPath = '/dashboard/notices';
/** Where pages that are not live ask for the bell. */
export const bellPath = `${noticesPath}/bell`;

export const readerOf = ({ account, person }: SignedIn): Reader => ({
  ...{ accountId: account.id, personId: person.id },
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

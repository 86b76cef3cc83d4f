import type { Membership, SignedIn } from '../../../access/people-ports.ts';
import { html, nothing } from '../frame/html.ts';
import type { Page } from '../frame/screen.ts';

/**
 * Asks for confirmation before a link signs a person in.
 * @param now the signed-in person, if any
 * @param action where the link itself is, with its query
 */
export const linkPage = (
  { person, account }: Membership,
  now: SignedIn | undefined,
  action: string,
): Page => ({
  title: `Sign in to ${account.name}`,
  content: html`<section class="card alone">
    <h1>Sign in to ${account.name}?</h1>
    <p>This link signs you in to the account <strong>${account.name}</strong> as <strong>${person.email}</strong>. It works once.</p>
    ${now ? html`<p>You are signed in to <strong>${now.account.name}</strong> as <strong>${now.person.email}</strong>. If you go on, that session ends in this browser.</p>` : nothing}
    <form method="post" action="${action}"><button class="main">Sign in</button></form>
    <p class="hint">${now ? html`<a href="/dashboard">Stay in ${now.account.name}</a>` : 'If you did not expect this link, close this page. Nothing has happened yet.'}</p>
  </section>`,
});

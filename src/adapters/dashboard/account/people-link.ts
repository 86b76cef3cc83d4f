import type { Invitation } from '../../../access/use-cases/people.ts';
import { html, type Html } from '../frame/html.ts';
import { copyable, time } from '../frame/parts.ts';

/** A sign-in link, which is shown only once. */
export const shownLink = (
  { person: { email }, secret, endsAt }: Invitation,
  origin: string,
  now: Date,
): Html => {
  const link = `${origin}/dashboard/sign-in/${secret}`;
  return html`<section class="card secret" aria-labelledby="link-title">
    <h2 id="link-title">A sign-in link for ${email}</h2>
    <p>Send it to ${email} yourself; we do not send email. It signs in whoever opens it, works once, and expires ${time(endsAt, now)}. <strong>It is not shown again.</strong></p>
    ${copyable(link, 'link')}
    <p><a class="button" href="/dashboard/account">I have copied it</a></p>
  </section>`;
};

import * as v from 'valibot';
import { passwordLength } from '../../../access/domain/password.ts';
import type { SignedIn } from '../../../access/people-ports.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { field, formError } from '../frame/form-parts.ts';
import { accountPath } from './people-forms.ts';
import { form, type Form, type Refusal } from '../frame/screen.ts';

const { min, max } = passwordLength;
const path = `${accountPath}/password`;

/** The domain decides who needs the current one. */
export const passwordForm = ({ access }: Pick<DashboardPorts, 'access'>): Form =>
  form({
    name: 'password',
    path,
    schema: v.object({
      current: v.optional(v.string(), ''),
      wanted: v.pipe(
        v.string(),
        v.check(
          (text) => [...text].length >= min && [...text].length <= max,
          `A password has ${min} to ${max} characters; a few words do well.`,
        ),
      ),
    }),
    act: async ({ signedIn }, { current, wanted }) => {
      await access.choosePassword(signedIn, { current, wanted });
      return { to: accountPath, done: 'password' };
    },
  });

export const passwordSection = (
  { person, session }: SignedIn,
  refusal: Refusal | undefined,
): Html => {
  const needsCurrent = person.passwordHash !== undefined && session.way === 'password';
  return html`<section class="card" id="password">
    <h2>Password</h2>
    <p class="hint">${person.passwordHash === undefined ? 'You have no password yet; you sign in with links.' : 'You have a password.'} It opens this account only. Saving a new one ends all your other sessions.</p>
    <form method="post" action="${path}" class="narrow">
      ${formError(refusal)}
      <input type="text" name="username" value="${person.email}" autocomplete="username" hidden>
      ${needsCurrent ? field({ label: 'Current password', name: 'current', type: 'password', autocomplete: 'current-password', maxlength: 1000 }, refusal) : nothing}
      ${field({ label: 'New password', name: 'wanted', type: 'password', autocomplete: 'new-password', hint: `${min} to ${max} characters, and none of the common ones; a few words do well.` }, refusal)}
      <div><button class="main">Save password</button></div>
    </form>
  </section>`;
};

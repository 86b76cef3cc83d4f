import * as v from 'valibot';
import { passwordLength } from '../../../access/domain/password.ts';
import { needsCurrentPassword } from '../../../access/domain/person.ts';
import type { SignedIn } from '../../../access/people-ports.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { field, formError } from '../frame/form-parts.ts';
import { accountPath } from './people-forms.ts';
import { form, type Form, type Refusal } from '../frame/screen.ts';

const { min, max } = passwordLength;
const accountForm = `${accountPath}/password`;

/** The domain decides who needs the current one. @param path where the form is sent */
export const passwordForm = (
  { access }: Pick<DashboardPorts, 'access'>,
  path = accountForm,
): Form =>
  form({
    name: 'password',
    path,
    secrets: ['current', 'wanted'],
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

export const passwordSection = (signedIn: SignedIn, refusal: Refusal | undefined): Html => {
  const { passwordHash } = signedIn.person;
  return html`<section class="card" id="password">
    <h2>Password</h2>
    <p class="hint">${passwordHash === undefined ? 'You have no password yet; you sign in with links.' : 'You have a password.'} It opens this account only. Saving a new one ends all your other sessions.</p>
    <form method="post" action="${accountForm}" class="narrow">
      ${passwordFields(signedIn, refusal)}
      <div><button class="main">Save password</button></div>
    </form>
  </section>`;
};

export const passwordFields = (
  { person, session }: SignedIn,
  refusal: Refusal | undefined,
): Html => {
  const needsCurrent = needsCurrentPassword(person, session);
  return html`${formError(refusal)}
      <input type="text" name="username" value="${person.email}" autocomplete="username" hidden>
      ${needsCurrent ? field({ label: 'Current password', name: 'current', type: 'password', autocomplete: 'current-password', maxlength: 1000 }, refusal) : nothing}
      ${field({ label: 'New password', name: 'wanted', type: 'password', autocomplete: 'new-password', hint: `${min} to ${max} characters, and none of the common ones; a few words do well.` }, refusal)}`;
};

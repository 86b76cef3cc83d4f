import { html, type Html } from '../frame/html.ts';
import { signInPath as path } from '../frame/next-page.ts';
import { field, formError } from '../frame/form-parts.ts';
import type { Refusal } from '../frame/screen.ts';

/** @param query goes along with the form: it says where to go afterwards */
export const signInForm = (query: string, refusal: Refusal | undefined): Html => html`
  <section class="card alone">
    <h1>Sign in</h1>
    ${formError(refusal)}
    <form method="post" action="${path}${query && `?${query}`}">
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', autofocus: true }, refusal)}
      ${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password' }, refusal)}
      <button class="main">Sign in</button>
    </form>
    <p class="hint">No password yet, or forgotten it? Use a one-time sign-in link. The operator creates one with <code>animal-store user invite</code>; if you were just invited, whoever invited you has one for you.</p>
  </section>`;

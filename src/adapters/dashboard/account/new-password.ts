import type { DashboardPorts } from '../frame/ports.ts';
import { html } from '../frame/html.ts';
import { newPasswordPath } from '../frame/next-page.ts';
import type { Screen } from '../frame/screen.ts';
import { passwordFields, passwordForm } from './people-password.ts';

export const newPasswordScreen = (ports: Pick<DashboardPorts, 'access'>): Screen => ({
  path: newPasswordPath,
  section: 'account',
  live: false,
  show: ({ signedIn }, refusal) =>
    Promise.resolve({
      title: 'Choose a new password',
      content: html`<section class="card alone">
        <h1>Choose a new password</h1>
        <p>You are signed in to <strong>${signedIn.account.name}</strong> as <strong>${signedIn.person.email}</strong>. A new password opens this account only, and ends all your other sessions and links.</p>
        <form method="post" action="${newPasswordPath}">
          ${passwordFields(signedIn, refusal)}
          <button class="main">Save password</button>
        </form>
        <p class="hint"><a href="/dashboard">Go on without a new password</a></p>
      </section>`,
    }),
  forms: [passwordForm(ports, newPasswordPath)],
});

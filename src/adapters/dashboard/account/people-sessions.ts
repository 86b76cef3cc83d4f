import * as v from 'valibot';
import { isOpen, type Session } from '../../../access/domain/session.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { badge, buttonForm, time } from '../frame/parts.ts';
import { browserName } from './people-browser.ts';
import { accountPath } from './people-forms.ts';
import { form, type Form, type Visit } from '../frame/screen.ts';

const path = `${accountPath}/sessions`;

type Ports = Pick<DashboardPorts, 'access'>;

export const endSession = ({ access }: Ports): Form =>
  form({
    name: 'end-session',
    path: `${path}/:session/end`,
    schema: v.object({}),
    act: async ({ signedIn, parameters: { session = '' } }) => {
      await access.revokeSession(signedIn, session);
      return { to: accountPath, done: 'ended' };
    },
  });

export const endSessions = ({ access }: Ports): Form =>
  form({
    name: 'end-sessions',
    path: `${path}/end-others`,
    schema: v.object({}),
    act: async ({ signedIn }) => {
      await access.revokeOtherSessions(signedIn);
      return { to: accountPath, done: 'all-ended' };
    },
  });

/** The sessions of a person. @param all includes sessions that have ended */
export const sessionsSection = (all: readonly Session[], { signedIn, now }: Visit): Html => {
  const open = all.filter((one) => isOpen(one, now));
  return html`<section class="card" id="sessions">
    <div class="row middle between">
      <h2>Sessions</h2>
      ${open.length > 1 ? buttonForm(`${path}/end-others`, 'Sign out everywhere else') : nothing}
    </div>
    <p class="quiet">Browsers in which you are signed in. If you do not recognise one, end its session, then choose a new password.</p>
    <div class="table">
      <table class="cards-on-phone">
        <thead><tr><th scope="col">Browser</th><th scope="col">Signed in</th><th scope="col">Expires</th><th scope="col"><span class="visually-hidden">Actions</span></th></tr></thead>
        <tbody>${open.map((one) => row(one, one.id === signedIn.session.id, now))}</tbody>
      </table>
    </div>
  </section>`;
};

const row = (
  { id, browser, way, startedAt, endsAt }: Session,
  isThis: boolean,
  now: Date,
): Html => {
  const name = browserName(browser);
  return html`<tr>
    <td class="name"><span title="${browser}">${name}</span> ${isThis ? badge('this browser', 'good') : nothing}</td>
    <td data-label="Signed in"><span>${time(startedAt, now)}, ${way === 'link' ? 'with a link' : 'with the password'}</span></td>
    <td data-label="Expires">${time(endsAt, now)}</td>
    <td class="actions">${isThis ? nothing : buttonForm(`${path}/${id}/end`, 'End session', { about: `Sign out of ${name}` })}</td>
  </tr>`;
};

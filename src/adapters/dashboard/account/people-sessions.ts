import * as v from 'valibot';
import { isOpen, type Session } from '../../../access/domain/session.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { buttonForm } from '../frame/form-parts.ts';
import { badge, time } from '../frame/parts.ts';
import { browserName } from './people-browser.ts';
import { accountPath } from './people-forms.ts';
import { form, type Form, type Visit } from '../frame/screen.ts';
import { table, type Row } from '../frame/table.ts';

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
    <div class="row between">
      <h2>Sessions</h2>
      ${open.length > 1 ? buttonForm(`${path}/end-others`, 'Sign out everywhere else') : nothing}
    </div>
    <p class="hint">Browsers in which you are signed in. If you do not recognise one, end its session, then choose a new password.</p>
    ${table(
      columns,
      open.map((one) => rowOf(one, one.id === signedIn.session.id, now)),
    )}
  </section>`;
};

const columns = {
  Browser: 'name',
  'Signed in': 'text',
  Expires: 'text',
  Actions: 'actions',
} as const;

const rowOf = (
  { id, browser, way, startedAt, endsAt }: Session,
  isThis: boolean,
  now: Date,
): Row<keyof typeof columns> => {
  const name = browserName(browser);
  const end = () =>
    buttonForm(`${path}/${id}/end`, 'End session', { about: `Sign out of ${name}` });
  return {
    cells: {
      Browser: html`<span title="${browser}">${name}</span> ${isThis ? badge('this browser', 'good') : nothing}`,
      'Signed in': html`<span>${time(startedAt, now)}, ${way === 'link' ? 'with a link' : 'with the password'}</span>`,
      Expires: time(endsAt, now),
      Actions: !isThis && end(),
    },
  };
};

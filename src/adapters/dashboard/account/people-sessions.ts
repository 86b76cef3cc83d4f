import { isOpen, type Session } from '../../../access/domain/session.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { html, type Html } from '../frame/html.ts';
import { buttonForm } from '../frame/form-parts.ts';
import { badge, time } from '../frame/parts.ts';
import { browserName } from './people-browser.ts';
import { accountPath } from './people-forms.ts';
import { bareForm, type Form, type Visit } from '../frame/screen.ts';
import { table, type ColumnsOf } from '../frame/table.ts';

const path = `${accountPath}/sessions`;

type Ports = Pick<DashboardPorts, 'access'>;

export const endSession = ({ access }: Ports): Form =>
  bareForm({
    name: 'end-session',
    path: `${path}/:session/end`,
    act: async ({ signedIn, parameters: { session = '' } }) => {
      await access.revokeSession(signedIn, session);
      return { to: accountPath, done: 'ended' };
    },
  });

export const endSessions = ({ access }: Ports): Form =>
  bareForm({
    name: 'end-sessions',
    path: `${path}/end-others`,
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
      ${open.length > 1 && buttonForm(`${path}/end-others`, 'Sign out everywhere else')}
    </div>
    <p class="hint">Browsers in which you are signed in. If you do not recognise one, end its session, then choose a new password.</p>
    ${table(open, Object.values(columns(signedIn.session.id, now)))}
  </section>`;
};

const columns = (
  thisId: string,
  now: Date,
): ColumnsOf<Session, 'id' | 'personId' | 'way' | 'others' | 'resetsPassword'> => ({
  browser: [
    'Browser',
    'name',
    ({ id, browser }) =>
      html`<span title="${browser}">${browserName(browser)}</span> ${id === thisId && badge('this browser', 'good')}`,
  ],
  startedAt: [
    'Signed in',
    'text',
    ({ startedAt, way }) =>
      html`<span>${time(startedAt, now)}, ${way === 'link' ? 'with a link' : 'with the password'}</span>`,
  ],
  endsAt: ['Expires', 'text', ({ endsAt }) => time(endsAt, now)],
  actions: [
    'Actions',
    'actions',
    ({ id, browser }) =>
      id !== thisId &&
      buttonForm(`${path}/${id}/end`, 'End session', {
        about: `Sign out of ${browserName(browser)}`,
      }),
  ],
});

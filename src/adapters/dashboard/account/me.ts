import * as v from 'valibot';
import { passwordLength } from '../../../access/domain/password.ts';
import { needsCurrentPassword } from '../../../access/domain/person.ts';
import { isOpen, type Session } from '../../../access/domain/session.ts';
import type { SignedIn } from '../../../access/people-ports.ts';
import { buttonForm, field, formError } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { badge, type ColumnsOf, table, time } from '../frame/parts.ts';
import { accountPath, newPasswordPath } from '../frame/paths.ts';
import {
  bareForm,
  form,
  type Form,
  type Refusal,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';

const { min, max } = passwordLength;
const accountForm = `${accountPath}/password`;

/** The domain decides who needs the current one. @param path where the form is sent */
export const passwordForm = (
  { access }: Pick<DashboardPorts, 'access'>,
  path = accountForm,
): Form =>
  form({
    name: 'password',
    operation: 'me.change',
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

const passwordFields = ({ person, session }: SignedIn, refusal: Refusal | undefined): Html => {
  const needsCurrent = needsCurrentPassword(person, session);
  return html`${formError(refusal)}
      <input type="text" name="username" value="${person.email}" autocomplete="username" hidden>
      ${needsCurrent ? field({ label: 'Current password', name: 'current', type: 'password', autocomplete: 'current-password', maxlength: 1000 }, refusal) : nothing}
      ${field({ label: 'New password', name: 'wanted', type: 'password', autocomplete: 'new-password', hint: `${min} to ${max} characters, and none of the common ones; a few words do well.` }, refusal)}`;
};

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

const path = `${accountPath}/sessions`;

type Ports = Pick<DashboardPorts, 'access'>;

export const endSession = ({ access }: Ports): Form =>
  bareForm({
    name: 'end-session',
    operation: 'me.end_session',
    path: `${path}/:session/end`,
    act: async ({ signedIn, parameters: { session = '' } }) => {
      await access.revokeSession(signedIn, session);
      return { to: accountPath, done: 'ended' };
    },
  });

export const endSessions = ({ access }: Ports): Form =>
  bareForm({
    name: 'end-sessions',
    operation: 'me.end_session',
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

/** The first match wins: most browsers also name other browsers. */
const browsers = [
  [/\bEdgA?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/\bcurl\//, 'curl'],
] as const;

const systems = [
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/** Characters; names stand near the beginning. */
const longestRead = 512;

/** `Firefox on Linux`: enough to recognise one's own. @param header User-Agent, RFC 9110, section 10.1.5 */
export const browserName = (header: string): string => {
  const userAgent = header.slice(0, longestRead);
  const [, browser = 'Unknown browser'] = browsers.find(([shape]) => shape.test(userAgent)) ?? [];
  const [, system] = systems.find(([shape]) => shape.test(userAgent)) ?? [];
  return system === undefined ? browser : `${browser} on ${system}`;
};

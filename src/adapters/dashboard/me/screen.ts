import * as v from 'valibot';
import { aRole } from '../../../access/domain/role.ts';
import type { Person } from '../../../access/domain/person.ts';
import { ownLink, ownLinkPath } from '../account/people.ts';
import { mailForm, mailSection } from '../notices/mail.ts';
import { factorSummary } from './second-factor.ts';
import { shownOnce } from '../frame/sent-form.ts';
import { passwordLength } from '../../../access/domain/password.ts';
import { needsCurrentPassword } from '../../../access/domain/person.ts';
import { isOpen, type Session } from '../../../access/domain/session.ts';
import type { SignedIn } from '../../../access/people-ports.ts';
import { buttonForm, field, formError } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { rowList } from '../frame/list-parts.ts';
import { badge, type ColumnsOf, head, time } from '../frame/parts.ts';
import { accountPath, mePath, newPasswordPath } from '../frame/paths.ts';
import {
  bareForm,
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';

const { min, max } = passwordLength;

export const meScreen = (ports: DashboardPorts): Screen => {
  const { access, ids } = ports;
  return {
    path: mePath,
    section: 'account',
    live: false,
    notices: {
      [shownOnce]:
        'This was already done, and the link was shown then. If you lost it, create a new one.',
      name: 'Your name is saved.',
      password: 'The password is saved. All your other sessions have ended.',
      ended: 'The session has ended.',
      mail: 'Your mail settings are saved.',
      'all-ended': 'You are signed out everywhere else.',
    },
    show: async (visit, refusal, secret) => {
      const { account, person } = visit.signedIn;
      const [sessions, mail] = await Promise.all([
        access.listSessions(person.id),
        mailSection(ports, person),
      ]);
      const content = html`
        ${head('Your profile', html`You are signed in as ${person.email}. You are ${aRole(person.role)} of <a href="${accountPath}">${account.name}</a>.`)}
        ${secret}
        ${nameSection(person, refusalOf(refusal, 'name'))}
        ${passwordSection(visit.signedIn, refusalOf(refusal, 'password'))}
        ${factorSummary(person.factorSince)}
        ${sessionsSection(sessions, visit)}
        ${linkSection(ids.next('form'), refusalOf(refusal, 'own-link'))}
        ${mail}`;
      return { title: 'Your profile', content };
    },
    forms: [
      nameForm(ports),
      passwordForm(ports),
      endSession(ports),
      endSessions(ports),
      ownLink(ports),
      mailForm(ports),
    ],
  };
};

const nameSection = (
  { name }: Person,
  refusal: Refusal | undefined,
): Html => html`<section class="card">
    <h2>Name</h2>
    <form method="post" action="${mePath}/name" class="fields">
      ${formError(refusal)}
      ${field({ label: 'Your name', name: 'name', required: false, maxlength: 100, autocomplete: 'name', value: name ?? '', hint: 'Other people in this account see it beside your address.' }, refusal)}
      <button>Save name</button>
    </form>
  </section>`;

const nameForm = ({ access }: Ports): Form =>
  form({
    name: 'name',
    operation: 'me.change',
    path: `${mePath}/name`,
    schema: v.object({ name: v.string() }),
    field: 'name',
    act: async ({ signedIn }, { name }) => {
      await access.rename(signedIn, name);
      return { to: mePath, done: 'name' };
    },
  });

const linkSection = (
  once: string,
  refusal: Refusal | undefined,
): Html => html`<section class="card" id="link">
    <div class="row between">
      <div><h2>Sign-in link</h2><p class="hint">For yourself, perhaps in another browser. It works once.</p></div>
      ${buttonForm(ownLinkPath, 'New link', { once })}
    </div>
    ${formError(refusal)}
  </section>`;
const ownForm = `${mePath}/password`;

/** The domain decides who must enter the current password. @param path where the form is sent */
const passwordForm = ({ access }: Pick<DashboardPorts, 'access'>, path = ownForm): Form =>
  form({
    name: 'password',
    operation: 'me.change',
    // Without this, someone with a stolen session could set the password that later confirms the person.
    again: ({ person, session }) => !needsCurrentPassword(person, session),
    path,
    secrets: ['current', 'wanted'],
    schema: v.object({
      current: v.optional(v.string(), ''),
      wanted: v.pipe(
        v.string(),
        v.check(
          (text) => [...text].length >= min && [...text].length <= max,
          `A password has ${min} to ${max} characters; a few words work well.`,
        ),
      ),
    }),
    act: async ({ signedIn }, { current, wanted }) => {
      await access.choosePassword(signedIn, { current, wanted });
      return { to: mePath, done: 'password' };
    },
  });

const passwordSection = (signedIn: SignedIn, refusal: Refusal | undefined): Html => {
  const { passwordHash } = signedIn.person;
  return html`<section class="card" id="password">
    <h2>Password</h2>
    <p class="hint">${passwordHash === undefined ? 'You have no password yet; you sign in with links.' : 'You have a password.'} It opens this account only. Saving a new one ends all your other sessions.</p>
    <form method="post" action="${ownForm}" class="narrow">
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
      ${field({ label: 'New password', name: 'wanted', type: 'password', autocomplete: 'new-password', hint: `${min} to ${max} characters, and none of the common ones; a few words work well.` }, refusal)}`;
};

export const newPasswordScreen = (ports: Pick<DashboardPorts, 'access'>): Screen => ({
  path: newPasswordPath,
  section: 'account',
  live: false,
  isForSetUp: true,
  show: ({ signedIn }, refusal) => {
    const which = signedIn.person.passwordHash === undefined ? 'password' : 'new password';
    return Promise.resolve({
      title: `Choose a ${which}`,
      content: html`<section class="card alone">
        <h1>Choose a ${which}</h1>
        <p>You are signed in to <strong>${signedIn.account.name}</strong> as <strong>${signedIn.person.email}</strong>. Your password opens this account only. Saving it ends all your other sessions and links.</p>
        <form method="post" action="${newPasswordPath}">
          ${passwordFields(signedIn, refusal)}
          <button class="main">Save password</button>
        </form>
        <p class="hint"><a href="/dashboard">Go on without a ${which}</a></p>
      </section>`,
    });
  },
  forms: [passwordForm(ports, newPasswordPath)],
});

const path = `${mePath}/sessions`;

type Ports = Pick<DashboardPorts, 'access'>;

const endSession = ({ access }: Ports): Form =>
  bareForm({
    name: 'end-session',
    operation: 'me.end_session',
    path: `${path}/:session/end`,
    act: async ({ signedIn, parameters: { session = '' } }) => {
      await access.revokeSession(signedIn, session);
      return { to: mePath, done: 'ended' };
    },
  });

const endSessions = ({ access }: Ports): Form =>
  bareForm({
    name: 'end-sessions',
    operation: 'me.end_session',
    path: `${path}/end-others`,
    act: async ({ signedIn }) => {
      await access.revokeOtherSessions(signedIn);
      return { to: mePath, done: 'all-ended' };
    },
  });

const sessionsSection = (all: readonly Session[], { signedIn, now }: Visit): Html => {
  const open = all.filter((one) => !one.awaitsFactor && isOpen(one, now));
  return html`<section class="card" id="sessions">
    <div class="row between">
      <h2>Sessions</h2>
      ${open.length > 1 && buttonForm(`${path}/end-others`, 'Sign out everywhere else')}
    </div>
    <p class="hint">Browsers in which you are signed in. If you do not recognise one, end its session, then choose a new password.</p>
    ${rowList(open, Object.values(columns(signedIn.session.id, now)))}
  </section>`;
};

type LeftOut =
  'id' | 'personId' | 'way' | 'others' | 'resetsPassword' | 'provenAt' | 'awaitsFactor';

const columns = (thisId: string, now: Date): ColumnsOf<Session, LeftOut> => ({
  browser: [
    'Device',
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
  seenAt: ['Last seen', 'text', ({ seenAt }) => html`<span>seen ${time(seenAt, now)}</span>`],
  network: ['Network', 'mono', ({ network }) => network],
  endsAt: ['Expires', 'text', ({ endsAt }) => html`<span>expires ${time(endsAt, now)}</span>`],
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

/** The first match wins, because most browsers also name other browsers. */
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

const longestRead = 512;

/**
 * Names a browser so that people recognise their own, as `Firefox on Linux`.
 * @param header User-Agent, RFC 9110, section 10.1.5
 */
export const browserName = (header: string): string => {
  const userAgent = header.slice(0, longestRead);
  const [, browser = 'Unknown browser'] = browsers.find(([shape]) => shape.test(userAgent)) ?? [];
  const [, system] = systems.find(([shape]) => shape.test(userAgent)) ?? [];
  return system === undefined ? browser : `${browser} on ${system}`;
};

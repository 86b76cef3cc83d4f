import * as v from 'valibot';
import { personNotFound } from '../../../access/domain/access-error.ts';
import { roles, roleWords } from '../../../access/domain/role.ts';
import type { Person } from '../../../access/domain/person.ts';
import type { Invitation } from '../../../access/use-cases/people.ts';
import type { MailTrouble } from '../../../notifications/ports.ts';
import { type Confirmation, field, formError, onceInput, select } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { accountTabs } from './tabs.ts';
import {
  type ListPlace,
  pageIn,
  placeIn,
  rowList,
  rowMenu,
  seenAtOnce,
} from '../frame/list-parts.ts';
import { badge, type ColumnsOf, head, secretCard, time } from '../frame/parts.ts';
import { accountLeft, mePath, peoplePath, signInPath } from '../frame/paths.ts';
import {
  bareForm,
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
  type Shown,
  type Visit,
} from '../frame/screen.ts';
import { filled, shownOnce } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';

const placeOf = (query: URLSearchParams): ListPlace => placeIn(query, ['after']);

export const ownLinkPath = `${mePath}/link`;

type ScreenPorts = Pick<DashboardPorts, 'access' | 'notifications' | 'settings' | 'ids'>;

export const peopleScreen = (ports: ScreenPorts): Screen => {
  const { access, notifications, ids } = ports;
  const newId = () => ids.next('form');
  return {
    path: peoplePath,
    section: 'account',
    live: false,
    notices: {
      [shownOnce]:
        'This was already done, and the link was shown then. If you lost it, create a new one.',
      role: 'The role is saved.',
      removed: 'The person was removed and can no longer sign in.',
    },
    show: async (visit, refusal, secret) => {
      const [people, troubles] = await Promise.all([
        access.listPeople(visit.accountId),
        notifications.listMailTroubles(visit.accountId),
      ]);
      const content = html`
        ${head(
          'People',
          html`Who can sign in to ${visit.signedIn.account.name}, and what they may do.`,
          {
            actions:
              visit.may('person.invite') &&
              people.length > seenAtOnce &&
              html`<a class="button" href="#invite">Invite somebody</a>`,
          },
        )}
        ${accountTabs('people')}
        ${secret}
        ${peopleList({ people, troubles }, visit, { newId, refusal, isMailOn: notifications.isMailOn })}`;
      return { title: 'People', content };
    },
    forms: [invitation(ports), newLink(ports), roleForm(ports), dismissal(ports), leaving(ports)],
  };
};

interface PeopleOptions {
  readonly newId: () => string;
  readonly refusal: Refusal | undefined;
  readonly isMailOn: boolean;
}

interface Known {
  readonly people: readonly Person[];
  readonly troubles: readonly MailTrouble[];
}

const peopleList = (
  { people, troubles }: Known,
  { signedIn, now, may, query }: Visit,
  { newId, refusal, isMailOn }: PeopleOptions,
): Html => {
  const invited = refusalOf(refusal, 'invite');
  const wrong = ['dismiss', 'new-link', 'role', 'leave'].map((name) => refusalOf(refusal, name));
  const troubleOf = new Map(troubles.map((one) => [one.personId, one]));
  const refusedMail = ({ id }: Person) => refusedSince(troubleOf.get(id), now);
  const address = { path: peoplePath, fields: {} };
  const choice = { address, after: query.get('after'), order: 'other' } as const;
  const { shown, links } = pageIn(people, ({ id }) => id, choice);
  const cells = columns(signedIn.person.id, {
    newId,
    isMailOn,
    refusedMail,
    may,
    place: placeOf(query),
  });
  return html`
    ${formError(wrong.find((one) => one !== undefined))}
    ${rowList(shown, Object.values(cells))}
    ${links}
    <section class="card">
      <h2>Roles</h2>
      <ul class="bullets">${roles.map((role) => html`<li><strong>${role}</strong>: ${roleWords[role]}</li>`)}</ul>
    </section>
    ${may('person.invite') && invitationForm(newId(), isMailOn, invited)}`;
};

const invitationForm = (
  once: string,
  isMailOn: boolean,
  refusal: Refusal | undefined,
): Html => html`<section class="card" id="invite">
    <h2>Invite somebody</h2>
    <form method="post" action="${peoplePath}" class="fields">
      ${formError(refusal)}
      ${onceInput(once)}
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'off', maxlength: 254, placeholder: 'keeper@shop.example', hint: `${isMailOn ? 'They get a sign-in link by mail, and you get another one to pass on.' : 'You get a sign-in link to pass on.'} It works once and expires after 7 days.` }, refusal)}
      ${select({ label: 'Role', name: 'role', value: 'editor', options: roles.map((role) => [role, `${role}: ${roleWords[role]}`]) }, refusal)}
      <button class="main">Invite</button>
    </form>
  </section>`;

const refusedSince = (trouble: MailTrouble | undefined, now: Date): Html =>
  trouble
    ? html`<p class="error">${trouble.refusal === undefined ? html`We have not been able to send mail to this address since ${time(trouble.since, now)}. We try again with the next mail.` : html`Mail to this address has been refused since ${time(trouble.since, now)}: ${trouble.refusal}`}</p>`
    : nothing;

interface Cells extends Pick<PeopleOptions, 'newId' | 'isMailOn'> {
  readonly refusedMail: (person: Person) => Html;
  readonly may: Visit['may'];
  readonly place: ListPlace;
}

type LeftOut =
  'id' | 'accountId' | 'name' | 'createdAt' | 'passwordHash' | 'provenAt' | 'factorSince';

const columns = (
  ownId: string,
  { newId, isMailOn, refusedMail, may, place }: Cells,
): ColumnsOf<Person, LeftOut> => ({
  email: [
    'Email',
    'name',
    (person) =>
      html`${person.name !== undefined && html`${person.name}<br>`}<span class="${person.name === undefined ? '' : 'hint'}">${person.email}</span> ${person.id === ownId && badge('you', 'good')}${refusedMail(person)}`,
  ],
  role: [
    'Role',
    'text',
    (person) => (may('person.change_role') ? changeRole(person, place) : person.role),
  ],
  joinedAt: ['Signs in with', 'text', waysIn],
  actions: [
    'Actions',
    'actions',
    (person) => {
      const { id, email, joinedAt } = person;
      const isOwn = id === ownId;
      const mayInvite = !isOwn && !joinedAt && may('person.invite');
      const to = `${peoplePath}/${id}/link${place}`;
      const label = isMailOn ? 'Send again' : 'New link';
      return rowMenu({ id, about: email }, [
        isOwn && leave,
        mayInvite && { label, action: to, once: newId() },
        !isOwn && may('person.remove') && remove(person, place, newId()),
      ]);
    },
  ],
});

const waysIn = ({ joinedAt, provenAt, passwordHash, factorSince }: Person): string => {
  if (!joinedAt) return 'not signed in yet';
  const first = passwordHash === undefined ? 'links only' : 'a password';
  const way = factorSince ? `${first}, second factor` : first;
  return provenAt ? way : `${way}; address not confirmed`;
};

const changeRole = ({ id, email, role: now }: Person, place: ListPlace): Html => {
  const role = `role-${id}`;
  return html`<form method="post" action="${peoplePath}/${id}/role${place}" class="inline">
    <label class="visually-hidden" for="${role}">Role of ${email}</label>
    <select id="${role}" name="role">${roles.map((one) => html`<option value="${one}" ${one === now && html`selected`}>${one}</option>`)}</select>
    <button title="Save the role of ${email}">Save</button>
  </form>`;
};

const leave: Confirmation = {
  id: 'leave',
  label: 'Leave',
  about: 'Leave this account',
  question: 'Leave this account?',
  consequences: 'You can no longer sign in to it, unless an owner invites you again.',
  confirm: 'Leave account',
  action: `${peoplePath}/leave`,
};

const remove = ({ id, email }: Person, place: ListPlace, once: string): Confirmation => ({
  id: `remove-${id}`,
  label: 'Remove',
  about: `Remove ${email}`,
  question: `Remove ${email}?`,
  consequences:
    'All their sessions and sign-in links end at once. Their actions stay in the audit log.',
  confirm: 'Remove person',
  action: `${peoplePath}/${id}/remove${place}`,
  once,
});

type Ports = Pick<DashboardPorts, 'access' | 'notifications' | 'settings'>;

const roleField = v.picklist(roles, 'Choose one of the roles.');

export const invitation = ({ access, notifications, settings }: Ports): Form =>
  form({
    name: 'invite',
    operation: 'person.invite',
    showsSecret: true,
    path: peoplePath,
    schema: v.object({
      email: v.pipe(
        filled('Enter an email address.'),
        v.maxLength(254, 'An email address has at most 254 characters.'),
      ),
      role: roleField,
    }),
    field: 'email',
    once: { admit: ({ accountId }) => access.admitInvitation(accountId) },
    act: async ({ accountId, now }, { email, role }) => {
      const invited = await access.invite(accountId, email, role);
      const passedOn = passedOnBy(notifications.isMailOn, invited);
      return {
        ...shownLink(invited, { origin: settings.origin, passedOn, now, way: peoplePath }),
        status: 201,
      };
    },
  });

export const newLink = (ports: Ports): Form =>
  linkForm(ports, {
    name: 'new-link',
    operation: 'person.invite',
    path: `${peoplePath}/:person/link`,
    personOf: ({ parameters: { person = '' } }) => person,
  });

export const ownLink = (ports: Ports): Form =>
  linkForm(ports, {
    name: 'own-link',
    operation: 'me.make_link',
    path: ownLinkPath,
    personOf: ({ signedIn }) => signedIn.person.id,
  });

type LinkForm = Pick<Form, 'name' | 'operation' | 'path'> & {
  readonly personOf: (visit: Visit) => string;
};

const linkForm = (
  { access, notifications, settings }: Ports,
  { personOf, ...form }: LinkForm,
): Form =>
  bareForm({
    ...form,
    showsSecret: true,
    once: { admit: (visit) => access.admitNewLink(visit.signedIn, personOf(visit)) },
    act: async (visit) => {
      const { signedIn, now } = visit;
      const invited = await access.renewLink(signedIn, personOf(visit));
      const isOwn = invited.person.id === signedIn.person.id;
      const passedOn = isOwn ? 'notAtAll' : passedOnBy(notifications.isMailOn, invited);
      const way = isOwn ? mePath : peoplePath + placeOf(visit.query);
      return {
        ...shownLink(invited, { origin: settings.origin, passedOn, now, way }),
        status: 200,
      };
    },
  });

const roleForm = ({ access }: Ports): Form =>
  form({
    name: 'role',
    operation: 'person.change_role',
    path: `${peoplePath}/:person/role`,
    schema: v.object({ role: roleField }),
    act: async ({ accountId, query, parameters: { person = '' } }, { role }) => {
      await access.giveRole(accountId, person, role);
      return { to: peoplePath + placeOf(query), done: 'role' };
    },
  });

const leaving = ({ access }: Ports): Form =>
  bareForm({
    name: 'leave',
    operation: 'me.leave',
    path: `${peoplePath}/leave`,
    act: async ({ accountId, signedIn }) => {
      await access.dismiss(accountId, signedIn.person.id);
      return { to: signInPath, done: accountLeft };
    },
  });

const dismissal = (ports: Ports): Form =>
  bareForm({
    name: 'dismiss',
    operation: 'person.remove',
    path: `${peoplePath}/:person/remove`,
    once: true,
    act: async (visit) => {
      const { id } = await personOf(ports, visit);
      if (id === visit.signedIn.person.id) {
        throw new PageProblem(422, 'You cannot remove yourself; leave the account instead.');
      }
      await ports.access.dismiss(visit.accountId, id);
      return { to: peoplePath + placeOf(visit.query), done: 'removed' };
    },
  });

const advice = {
  byMail: (email: string) =>
    `We send ${email} another one by mail. You can also pass on this one yourself.`,
  notMailed: (email: string) =>
    `We did not mail it: ${email} has reached the limit of invitations for one address. Pass this one on yourself.`,
  byHand: (email: string) => `Send it to ${email} yourself; we do not send email.`,
  notAtAll: () => 'It is for you, perhaps in another browser.',
} as const;

const passedOnBy = (isMailOn: boolean, { isMailed }: Invitation): keyof typeof advice => {
  if (!isMailOn) return 'byHand';
  return isMailed ? 'byMail' : 'notMailed';
};

interface LinkFacts {
  readonly origin: string;
  readonly passedOn: keyof typeof advice;
  readonly now: Date;
  readonly way: string;
}

const shownLink = (
  { person: { email }, secret, endsAt }: Invitation,
  { origin, passedOn, now, way }: LinkFacts,
): Omit<Shown, 'status'> => ({
  title: `A sign-in link for ${email}`,
  secret: secretCard({
    id: 'link-title',
    heading: `A sign-in link for ${email}`,
    advice: html`${advice[passedOn](email)} It signs in anyone who opens it, works once, and expires ${time(endsAt, now)}. <strong>It is not shown again.</strong>`,
    secret: `${origin}/dashboard/sign-in/${secret}`,
    what: 'link',
    next: { to: way, label: 'I have copied it' },
  }),
});

const personOf = async (
  { access }: Ports,
  { accountId, parameters: { person = '' } }: Visit,
): Promise<Person> => {
  const people = await access.listPeople(accountId);
  const found = people.find(({ id }) => id === person);
  if (!found) throw personNotFound(person);
  return found;
};

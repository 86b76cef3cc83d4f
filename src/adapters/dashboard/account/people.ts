import * as v from 'valibot';
import { personNotFound } from '../../../access/domain/access-error.ts';
import type { Person } from '../../../access/domain/person.ts';
import type { Invitation } from '../../../access/use-cases/people.ts';
import type { MailTrouble } from '../../../notifications/ports.ts';
import { buttonForm, confirmedForm, field, formError, onceInput } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { badge, type ColumnsOf, day, secretCard, table, time } from '../frame/parts.ts';
import { accountPath } from '../frame/paths.ts';
import {
  bareForm,
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Shown,
  type Visit,
} from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';

interface PeopleOptions {
  readonly newId: () => string;
  readonly refusal: Refusal | undefined;
  readonly isMailOn: boolean;
}

interface Known {
  readonly people: readonly Person[];
  readonly troubles: readonly MailTrouble[];
}

export const peopleSection = (
  { people, troubles }: Known,
  { signedIn, now }: Visit,
  { newId, refusal, isMailOn }: PeopleOptions,
): Html => {
  const invited = refusalOf(refusal, 'invite');
  const troubleOf = new Map(troubles.map((one) => [one.personId, one]));
  const refusedMail = ({ id }: Person) => refusedSince(troubleOf.get(id), now);
  return html`<section class="card" id="people">
    <h2>People</h2>
    <p class="hint">Everyone listed here has full access to this account. You can create links for yourself and for people who have not signed in yet. ${isMailOn ? 'Everyone else asks for one on the sign-in page.' : 'For everyone else, the operator of this service creates one.'}</p>
    ${formError(refusalOf(refusal, 'dismiss') ?? refusalOf(refusal, 'new-link'))}
    ${table(people, Object.values(columns(signedIn.person.id, { newId, isMailOn, refusedMail })))}
    <form method="post" action="${peoplePath}" class="fields">
      ${formError(invited)}
      ${onceInput(newId())}
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'off', maxlength: 254, placeholder: 'keeper@shop.example', hint: `${isMailOn ? 'They get a sign-in link by mail, and you get another one to pass on.' : 'You get a sign-in link to pass on.'} It works once and expires after 7 days.` }, invited)}
      <button class="main">Invite</button>
    </form>
  </section>`;
};

const refusedSince = (trouble: MailTrouble | undefined, now: Date): Html =>
  trouble
    ? html`<p class="error">${trouble.refusal === undefined ? html`We have not been able to send mail to this address since ${time(trouble.since, now)}. We try again with the next mail.` : html`Mail to this address has been refused since ${time(trouble.since, now)}: ${trouble.refusal}`}</p>`
    : nothing;

interface Cells extends Pick<PeopleOptions, 'newId' | 'isMailOn'> {
  readonly refusedMail: (person: Person) => Html;
}

const columns = (
  ownId: string,
  { newId, isMailOn, refusedMail }: Cells,
): ColumnsOf<Person, 'id' | 'accountId' | 'passwordHash' | 'provenAt'> => ({
  email: [
    'Email',
    'name',
    (person) =>
      html`${person.email} ${person.id === ownId && badge('you', 'good')}${refusedMail(person)}`,
  ],
  createdAt: ['Added', 'text', ({ createdAt }) => day(createdAt)],
  joinedAt: ['Signs in with', 'text', waysIn],
  actions: [
    'Actions',
    'actions',
    (person) => [
      person.id === ownId && makeLink(person, 'New link', newId()),
      person.id !== ownId &&
        !person.joinedAt &&
        makeLink(person, isMailOn ? 'Send again' : 'New link', newId()),
      person.id !== ownId && remove(person),
    ],
  ],
});

const makeLink = ({ id, email }: Person, label: string, once: string): Html =>
  buttonForm(`${peoplePath}/${id}/link`, label, {
    once,
    about: `Make a sign-in link for ${email}`,
  });

const waysIn = ({ joinedAt, provenAt, passwordHash }: Person): string => {
  if (!joinedAt) return 'not signed in yet';
  const way = passwordHash === undefined ? 'links only' : 'a password';
  return provenAt ? way : `${way}; address not confirmed`;
};

const remove = ({ id, email }: Person): Html =>
  confirmedForm({
    id: `remove-${id}`,
    label: 'Remove',
    about: `Remove ${email}`,
    question: `Remove ${email}?`,
    consequences:
      'All their sessions and sign-in links end at once. Their actions stay in the audit log.',
    confirm: 'Remove person',
    action: `${peoplePath}/${id}/remove`,
  });

const peoplePath = `${accountPath}/people`;

type Ports = Pick<DashboardPorts, 'access' | 'notifications' | 'settings'>;

export const invitation = ({ access, notifications, settings }: Ports): Form =>
  form({
    name: 'invite',
    path: peoplePath,
    schema: v.object({
      email: v.pipe(
        filled('Enter an email address.'),
        v.maxLength(254, 'An email address has at most 254 characters.'),
      ),
    }),
    field: 'email',
    once: { admit: ({ accountId }) => access.admitInvitation(accountId) },
    act: async ({ accountId, now }, { email }) => {
      const invited = await access.invite(accountId, email);
      const passedOn = passedOnBy(notifications.isMailOn, invited);
      return { ...shownLink(invited, { origin: settings.origin, passedOn, now }), status: 201 };
    },
  });

/** Makes a new link for oneself, or for a person who was invited and never came. */
export const newLink = ({ access, notifications, settings }: Ports): Form =>
  bareForm({
    name: 'new-link',
    path: `${peoplePath}/:person/link`,
    once: {
      admit: ({ signedIn, parameters: { person = '' } }) => access.admitNewLink(signedIn, person),
    },
    act: async ({ signedIn, now, parameters: { person = '' } }) => {
      const invited = await access.renewLink(signedIn, person);
      const isOwn = person === signedIn.person.id;
      const passedOn = isOwn ? 'notAtAll' : passedOnBy(notifications.isMailOn, invited);
      return { ...shownLink(invited, { origin: settings.origin, passedOn, now }), status: 200 };
    },
  });

export const dismissal = (ports: Ports): Form =>
  bareForm({
    name: 'dismiss',
    path: `${peoplePath}/:person/remove`,
    act: async (visit) => {
      const { id } = await personOf(ports, visit);
      if (id === visit.signedIn.person.id) {
        throw new PageProblem(
          422,
          'You cannot remove yourself; ask another person in your account.',
        );
      }
      await ports.access.dismiss(visit.accountId, id);
      return { to: accountPath, done: 'removed' };
    },
  });

const advice = {
  byMail: (email: string) =>
    `We send ${email} another one by mail. You can also pass on this one yourself.`,
  notMailed: (email: string) =>
    `We did not mail it: ${email} got as many invitations as we send to one address. Pass on this one yourself.`,
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
}

const shownLink = (
  { person: { email }, secret, endsAt }: Invitation,
  { origin, passedOn, now }: LinkFacts,
): Omit<Shown, 'status'> => ({
  title: `A sign-in link for ${email}`,
  secret: secretCard({
    id: 'link-title',
    heading: `A sign-in link for ${email}`,
    advice: html`${advice[passedOn](email)} It signs in anyone who opens it, works once, and expires ${time(endsAt, now)}. <strong>It is not shown again.</strong>`,
    secret: `${origin}/dashboard/sign-in/${secret}`,
    what: 'link',
    next: { to: accountPath, label: 'I have copied it' },
  }),
});

/** @throws DomainError `person_not_found`, also for a person of another account */
const personOf = async (
  { access }: Ports,
  { accountId, parameters: { person = '' } }: Visit,
): Promise<Person> => {
  const people = await access.listPeople(accountId);
  const found = people.find(({ id }) => id === person);
  if (!found) throw personNotFound(person);
  return found;
};

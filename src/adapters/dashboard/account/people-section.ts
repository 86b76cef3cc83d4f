import type { Person } from '../../../access/domain/person.ts';
import type { MailTrouble } from '../../../notifications/ports.ts';
import { confirmedForm } from '../frame/confirmed-form.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { buttonForm, field, formError, onceInput } from '../frame/form-parts.ts';
import { badge, day, time } from '../frame/parts.ts';
import { peoplePath } from './people-forms.ts';
import { refusalOf, type Refusal, type Visit } from '../frame/screen.ts';
import { table, type ColumnsOf } from '../frame/table.ts';

interface PeopleOptions {
  /** For `onceInput`. */
  readonly newId: () => string;
  readonly refusal: Refusal | undefined;
  /** Whether links can be sent by mail. */
  readonly isMailOn: boolean;
}

interface Known {
  readonly people: readonly Person[];
  /** Those whom mail does not reach. */
  readonly troubles: readonly MailTrouble[];
}

/** The people who can sign in, and the form to invite more. */
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

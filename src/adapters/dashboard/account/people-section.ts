import type { Person } from '../../../access/domain/person.ts';
import { confirmedForm } from '../frame/confirmed-form.ts';
import { html, type Html } from '../frame/html.ts';
import { buttonForm, field, formError, onceInput } from '../frame/form-parts.ts';
import { badge, day } from '../frame/parts.ts';
import { peoplePath } from './people-forms.ts';
import { refusalOf, type Refusal, type Visit } from '../frame/screen.ts';
import { table, type ColumnsOf } from '../frame/table.ts';

interface PeopleOptions {
  /** For `onceInput`. */
  readonly newId: () => string;
  readonly refusal: Refusal | undefined;
}

/** The people who can sign in, and the form to invite more. */
export const peopleSection = (
  people: readonly Person[],
  { signedIn }: Visit,
  { newId, refusal }: PeopleOptions,
): Html => {
  const invited = refusalOf(refusal, 'invite');
  return html`<section class="card" id="people">
    <h2>People</h2>
    <p class="hint">Everyone listed here has full access to this account. You can create links for yourself and for people who have not signed in yet. For everyone else the operator creates one with <code>animal-store user invite</code>.</p>
    ${formError(refusalOf(refusal, 'dismiss') ?? refusalOf(refusal, 'new-link'))}
    ${table(people, Object.values(columns(signedIn.person.id, newId)))}
    <form method="post" action="${peoplePath}" class="fields">
      ${formError(invited)}
      ${onceInput(newId())}
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'off', maxlength: 254, placeholder: 'keeper@shop.example', hint: 'You get a sign-in link to pass on. It works once and expires after 7 days.' }, invited)}
      <button class="main">Invite</button>
    </form>
  </section>`;
};

const columns = (
  ownId: string,
  newId: () => string,
): ColumnsOf<Person, 'id' | 'accountId' | 'passwordHash'> => ({
  email: [
    'Email',
    'name',
    ({ id, email }) => html`${email} ${id === ownId && badge('you', 'good')}`,
  ],
  createdAt: ['Added', 'text', ({ createdAt }) => day(createdAt)],
  joinedAt: ['Signs in with', 'text', waysIn],
  actions: [
    'Actions',
    'actions',
    (person) => [
      (person.id === ownId || !person.joinedAt) && makeLink(person, newId()),
      person.id !== ownId && remove(person),
    ],
  ],
});

const makeLink = ({ id, email }: Person, once: string): Html =>
  buttonForm(`${peoplePath}/${id}/link`, 'New link', {
    once,
    about: `Make a sign-in link for ${email}`,
  });

const waysIn = ({ joinedAt, passwordHash }: Person): string => {
  if (!joinedAt) return 'not signed in yet';
  return passwordHash === undefined ? 'links only' : 'a password';
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

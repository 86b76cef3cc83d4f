import type { Person } from '../../../access/domain/person.ts';
import { confirmedForm } from '../frame/confirmed-form.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { badge, buttonForm, day, field, formError, onceInput } from '../frame/parts.ts';
import { peoplePath } from './people-forms.ts';
import { refusalOf, type Refusal, type Visit } from '../frame/screen.ts';

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
    <p class="quiet">Everyone listed here has full access to this account. You can create links for yourself and for people who have not signed in yet. For everyone else the operator creates one with <code>animal-store user invite</code>.</p>
    ${formError(refusalOf(refusal, 'dismiss') ?? refusalOf(refusal, 'new-link'))}
    <div class="table">
      <table class="cards-on-phone">
        <thead><tr><th scope="col">Email</th><th scope="col">Added</th><th scope="col">Signs in with</th><th scope="col"><span class="visually-hidden">Actions</span></th></tr></thead>
        <tbody>${people.map((person) => row(person, person.id === signedIn.person.id, newId()))}</tbody>
      </table>
    </div>
    <form method="post" action="${peoplePath}" class="row top">
      ${formError(invited)}
      ${onceInput(newId())}
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'off', maxlength: 254, placeholder: 'keeper@shop.example', hint: 'You get a sign-in link to pass on. It works once and expires after 7 days.' }, invited)}
      <button class="main beside">Invite</button>
    </form>
  </section>`;
};

const row = (person: Person, isYou: boolean, once: string): Html => {
  const { id, email, createdAt, joinedAt } = person;
  return html`<tr>
    <td class="name">${email} ${isYou ? badge('you', 'good') : nothing}</td>
    <td data-label="Added">${day(createdAt)}</td>
    <td data-label="Signs in with">${waysIn(person)}</td>
    <td class="actions">
      ${isYou || !joinedAt ? buttonForm(`${peoplePath}/${id}/link`, 'New link', { once, about: `Make a sign-in link for ${email}` }) : nothing}
      ${isYou ? nothing : remove(person)}
    </td>
  </tr>`;
};

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

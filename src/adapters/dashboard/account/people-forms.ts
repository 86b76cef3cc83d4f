import * as v from 'valibot';
import { personNotFound } from '../../../access/domain/access-error.ts';
import type { Person } from '../../../access/domain/person.ts';
import type { Invitation } from '../../../access/use-cases/people.ts';
import { filled } from '../frame/form-body.ts';
import { html } from '../frame/html.ts';
import { copyable, time } from '../frame/parts.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { bareForm, form, type Form, type Shown, type Visit } from '../frame/screen.ts';

export const accountPath = '/dashboard/account';
export const peoplePath = `${accountPath}/people`;

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
  secret: html`<section class="card secret" aria-labelledby="link-title">
    <h2 id="link-title">A sign-in link for ${email}</h2>
    <p>${advice[passedOn](email)} It signs in anyone who opens it, works once, and expires ${time(endsAt, now)}. <strong>It is not shown again.</strong></p>
    ${copyable(`${origin}/dashboard/sign-in/${secret}`, 'link')}
    <p><a class="button" href="/dashboard/account">I have copied it</a></p>
  </section>`,
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

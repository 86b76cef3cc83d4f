import * as v from 'valibot';
import { personNotFound } from '../../../access/domain/people-error.ts';
import type { Person } from '../../../access/domain/person.ts';
import type { Invitation } from '../../../access/use-cases/people.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { form, type Form, type Page, type Visit } from '../frame/screen.ts';

export const accountPath = '/dashboard/account';
export const peoplePath = `${accountPath}/people`;

type Ports = Pick<DashboardPorts, 'access'>;
type Answer = (visit: Visit, invited: Invitation) => Promise<Page>;

/** Invites a person; the link is shown only on the page that answers. */
export const invitation = ({ access }: Ports, answer: Answer): Form =>
  form({
    name: 'invite',
    path: peoplePath,
    schema: v.object({
      email: v.pipe(
        v.string(),
        v.trim(),
        v.minLength(1, 'Enter an email address.'),
        v.maxLength(254, 'An email address has at most 254 characters.'),
      ),
    }),
    field: 'email',
    once: true,
    act: async (visit, { email }) => answer(visit, await access.invite(visit.accountId, email)),
  });

/** Makes a new link for oneself, or for a person who was invited and never came. */
export const newLink = (ports: Ports, answer: Answer): Form =>
  form({
    name: 'new-link',
    path: `${peoplePath}/:person/link`,
    schema: v.object({}),
    once: true,
    act: async (visit) => {
      const { person = '' } = visit.parameters;
      return answer(visit, await ports.access.renewLink(visit.signedIn, person));
    },
  });

export const dismissal = (ports: Ports): Form =>
  form({
    name: 'dismiss',
    path: `${peoplePath}/:person/remove`,
    schema: v.object({}),
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

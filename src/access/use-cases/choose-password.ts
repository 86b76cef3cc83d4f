import { checkPassword, invalidPassword } from '../domain/password.ts';
import { changePassword, needsCurrentPassword, type Person } from '../domain/person.ts';
import type { SignedIn } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { admitCurrent } from './sign-in-attempts.ts';

/**
 * A person who has no password yet needs no old one, nor does the first change after a link that was mailed or came from
 * the operator; attempts at the old one count as sign-in attempts. Of several changes at once, one succeeds. All other
 * sessions and all links of the person end.
 * @throws DomainError `password_invalid`, `too_many_sign_ins`; `session_not_found` when their own ended meanwhile
 */
export const choosePassword =
  (ports: AccessPorts) =>
  async (
    signedIn: SignedIn,
    { current, wanted }: { readonly current: string; readonly wanted: string },
  ): Promise<void> => {
    const { people, passwords, clock } = ports;
    const { person, session, account } = signedIn;
    const commonest = await passwords.commonest();
    checkPassword(wanted, { email: person.email, accountName: account.name, commonest });
    await proveOwner(ports, signedIn, current);
    const hash = await passwords.hash(wanted, await hashBeside(people, person));
    await people.changePassword(person.id, session.id, (one) => {
      if (one.passwordHash !== person.passwordHash) throw changedMeanwhile();
      return changePassword(one, hash, clock.now());
    });
  };

const changedMeanwhile = () =>
  invalidPassword(
    'The password was changed meanwhile. Load the page again to change it once more.',
  );

/** A sign-in compares all passwords of an address together, so that the time does not reveal how many there are. */
const hashBeside = async (
  people: AccessPorts['people'],
  { id, email }: Person,
): Promise<string | undefined> => {
  const namesakes = await people.listByEmail(email);
  return namesakes.find((one) => one.id !== id && one.passwordHash !== undefined)?.passwordHash;
};

/** Counts attempts, so that the thief of a session cannot guess the password. */
const proveOwner = async (
  ports: AccessPorts,
  { person, session }: SignedIn,
  current: string,
): Promise<void> => {
  if (person.passwordHash === undefined || !needsCurrentPassword(person, session)) return;
  await admitCurrent(ports, person.id);
  if (!(await ports.passwords.matches(current, person.passwordHash))) {
    throw invalidPassword('The current password is wrong.');
  }
};

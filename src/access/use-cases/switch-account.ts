import { personNotFound } from '../domain/people-error.ts';
import type { Person } from '../domain/person.ts';
import type { SessionChoice } from '../domain/session.ts';
import type { Membership, SignedIn } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { revokeSession, unlessEnded } from './people.ts';
import { choiceOf, openSession, type SignInOrigin, type StartedSession } from './sign-in.ts';

/** Every account that the session may switch to, its own first. */
export const accountsOf =
  (ports: AccessPorts) =>
  async ({ person, account, session }: SignedIn): Promise<readonly Membership[]> => {
    const others = await Promise.all(session.others.map((choice) => membershipOf(ports, choice)));
    return [{ person, account }, ...others.flatMap((one) => one ?? [])];
  };

/**
 * Switches to another account: starts a session there with the same expiry, and ends this one.
 * @throws DomainError `person_not_found` if the password of this session does not open that account, or no longer does
 */
export const switchAccount =
  (ports: AccessPorts) =>
  async (signedIn: SignedIn, personId: string, from: SignInOrigin): Promise<StartedSession> => {
    const { session, person: left } = signedIn;
    const chosen = session.others.find((one) => one.personId === personId);
    const person = chosen && (await personOf(ports, chosen));
    if (person?.passwordHash === undefined) throw personNotFound(personId);
    const rest = session.others.filter((one) => one.personId !== personId);
    const back =
      left.passwordHash === undefined ? [] : [choiceOf(ports, left.id, left.passwordHash)];
    const proof = { way: 'password', passwordHash: person.passwordHash } as const;
    const admission = { person, proof, others: [...back, ...rest], until: session.endsAt };
    const started = await openSession(ports, admission, from);
    await revokeSession(ports)(signedIn, session.id).catch(unlessEnded);
    return started;
  };

const membershipOf = async (
  ports: AccessPorts,
  choice: SessionChoice,
): Promise<Membership | undefined> => {
  const person = await personOf(ports, choice);
  const account = person && (await ports.accounts.find(person.accountId));
  return account && { person, account };
};

/** Undefined when the person was removed or has changed the password. */
const personOf = async (
  { people, keyMaterial }: AccessPorts,
  { personId, proof }: SessionChoice,
): Promise<Person | undefined> => {
  const person = await people.find(personId);
  const hash = person?.passwordHash;
  return hash !== undefined && keyMaterial.sha256(hash) === proof ? person : undefined;
};

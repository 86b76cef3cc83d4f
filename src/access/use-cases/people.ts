import { DomainError } from '../../kernel/domain-error.ts';
import type { Decision } from '../../kernel/decision.ts';
import type { AccessEvent } from '../domain/access-event.ts';
import { emailOf } from '../domain/email.ts';
import { personNotFound, type PeopleErrorCode } from '../domain/people-error.ts';
import { invitePerson, removePerson, type Person } from '../domain/person.ts';
import {
  invitationMs,
  isOpen,
  secretLength,
  shortLinkMs,
  type Session,
} from '../domain/session.ts';
import type { SignedIn } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';

/** A link's secret: the only time that it is seen. */
export interface Invitation {
  readonly person: Person;
  readonly secret: string;
  readonly endsAt: Date;
}

/**
 * Lets somebody sign in, by a link that works for 7 days. Who is there already gets a new link.
 * @throws DomainError `person_invalid`, `person_taken`, `account_not_found`
 */
export const invite =
  (ports: AccessPorts) =>
  async (accountId: string, email: string): Promise<Invitation> => {
    const { people, ids, clock } = ports;
    const decision = invitePerson({ id: ids.next('pers'), accountId, email }, clock.now());
    return makeLink(ports, await addOrFind(people, decision), invitationMs);
  };

/** Tries first and looks then: of two who invite somebody at once, both find the same one. */
const addOrFind = async (
  people: AccessPorts['people'],
  decision: Decision<Person, AccessEvent>,
): Promise<Person> => {
  const { accountId, email } = decision.state;
  try {
    await people.add(decision);
    return decision.state;
  } catch (error) {
    if (!isRefusal(error, 'person_taken')) throw error;
    const known = await people.findByEmail(email);
    if (known?.accountId !== accountId) throw error;
    return known;
  }
};

/** A link to be used right away. @throws DomainError `person_not_found` */
export const signInLinkFor =
  (ports: AccessPorts) =>
  async (email: string): Promise<Invitation> => {
    const person = await ports.people.findByEmail(emailOf(email));
    if (!person) throw personNotFound(email);
    return makeLink(ports, person, shortLinkMs);
  };

/** @throws DomainError `person_not_found`, `last_person` */
export const dismiss =
  ({ people, clock }: AccessPorts) =>
  (accountId: string, personId: string): Promise<void> =>
    people.remove(accountId, personId, (all) => removePerson(all, personId, clock.now()));

/** Ends a session of the same person, the current one included. @throws DomainError `session_not_found` */
export const revokeSession =
  ({ sessions, clock }: AccessPorts) =>
  ({ person }: SignedIn, sessionId: Session['id']): Promise<void> => {
    const { id: personId, accountId } = person;
    const about = { accountId, occurredAt: clock.now(), personId, sessionId };
    return sessions.end(personId, sessionId, [{ type: 'session_revoked', ...about }]);
  };

/** Ends every session of the same person but the current one; each is told of. @returns how many */
export const revokeOtherSessions =
  (ports: AccessPorts) =>
  async (signedIn: SignedIn): Promise<number> => {
    const { sessions, clock } = ports;
    const all = await sessions.list(signedIn.person.id);
    const others = all.filter((one) => one.id !== signedIn.session.id && isOpen(one, clock.now()));
    for (const { id } of others) await revokeSession(ports)(signedIn, id).catch(unlessEnded);
    return others.length;
  };

/** It ended meanwhile by itself, or by somebody quicker. */
const unlessEnded = (error: unknown): void => {
  if (!isRefusal(error, 'session_not_found')) throw error;
};

const isRefusal = (error: unknown, code: PeopleErrorCode): boolean =>
  error instanceof DomainError && error.code === code;

const makeLink = async (
  { signInLinks, keyMaterial, clock }: AccessPorts,
  person: Person,
  lastsMs: number,
): Promise<Invitation> => {
  const secret = keyMaterial.randomBase62(secretLength);
  const now = clock.now();
  const endsAt = new Date(now.getTime() + lastsMs);
  const link = { secretHash: keyMaterial.sha256(secret), personId: person.id, endsAt };
  const { id: personId, accountId, email } = person;
  await signInLinks.add(link, [
    { type: 'sign_in_link_made', accountId, occurredAt: now, personId, email },
  ]);
  return { person, secret, endsAt };
};

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

/** A link with its secret, which is shown only once. */
export interface Invitation {
  readonly person: Person;
  readonly secret: string;
  readonly endsAt: Date;
}

/**
 * A colleague invites a person by a link that works for 7 days. A person who was invited but never came gets a new
 * link.
 * @throws DomainError `person_invalid`, `person_joined`, `account_not_found`
 */
export const invite = (ports: AccessPorts) => inviting(ports, 'newcomer');

/**
 * The operator invites anyone, including a person who has lost the password. @throws DomainError `person_invalid`,
 * `account_not_found`
 */
export const inviteAnybody = (ports: AccessPorts) => inviting(ports, 'anybody');

const inviting =
  (ports: AccessPorts, whose: 'anybody' | 'newcomer') =>
  async (accountId: string, email: string): Promise<Invitation> => {
    const { people, ids, clock } = ports;
    const decision = invitePerson({ id: ids.next('pers'), accountId, email }, clock.now());
    const person = await addOrFind(people, decision);
    return makeLink(ports, { person, lastsMs: invitationMs, whose });
  };

/**
 * Another link, for oneself or for a colleague who was invited and never came.
 * @throws DomainError `person_not_found`, `person_joined`
 */
export const renewLink =
  (ports: AccessPorts) =>
  async ({ person: maker }: SignedIn, personId: string): Promise<Invitation> => {
    const person = await ports.people.find(personId);
    if (person?.accountId !== maker.accountId) throw personNotFound(personId);
    const whose = person.id === maker.id ? 'anybody' : 'newcomer';
    return makeLink(ports, { person, lastsMs: invitationMs, whose });
  };

/** Inserts first and looks up on conflict, so that two simultaneous invitations end with the same person. */
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
    const known = (await people.listByEmail(email)).find((one) => one.accountId === accountId);
    if (!known) throw error;
    return known;
  }
};

/**
 * Makes a short-lived link for the operator.
 * @param accountId needed if several accounts have this address; default: the oldest
 * @throws DomainError `person_not_found`
 */
export const signInLinkFor =
  (ports: AccessPorts) =>
  async (email: string, accountId?: string): Promise<Invitation> => {
    const people = await ports.people.listByEmail(emailOf(email));
    const person = people.find((one) => accountId === undefined || one.accountId === accountId);
    if (!person) throw personNotFound(email);
    return makeLink(ports, { person, lastsMs: shortLinkMs, whose: 'anybody' });
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

/** Ends every session of the person except the current one, with an event for each. @returns how many */
export const revokeOtherSessions =
  (ports: AccessPorts) =>
  async (signedIn: SignedIn): Promise<number> => {
    const { sessions, clock } = ports;
    const all = await sessions.list(signedIn.person.id);
    const others = all.filter((one) => one.id !== signedIn.session.id && isOpen(one, clock.now()));
    for (const { id } of others) await revokeSession(ports)(signedIn, id).catch(unlessEnded);
    return others.length;
  };

/** It has expired meanwhile, or another request ended it first. */
export const unlessEnded = (error: unknown): void => {
  if (!isRefusal(error, 'session_not_found')) throw error;
};

const isRefusal = (error: unknown, code: PeopleErrorCode): boolean =>
  error instanceof DomainError && error.code === code;

interface LinkDraft {
  readonly person: Person;
  readonly lastsMs: number;
  /** See `SignInLinks.add`. */
  readonly whose: 'anybody' | 'newcomer';
}

const makeLink = async (
  { signInLinks, keyMaterial, clock }: AccessPorts,
  { person, lastsMs, whose }: LinkDraft,
): Promise<Invitation> => {
  const secret = keyMaterial.randomBase62(secretLength);
  const now = clock.now();
  const endsAt = new Date(now.getTime() + lastsMs);
  const link = { secretHash: keyMaterial.sha256(secret), personId: person.id, endsAt };
  const { id: personId, accountId, email } = person;
  const told = { type: 'sign_in_link_made', accountId, occurredAt: now, personId, email } as const;
  await signInLinks.add(link, [told], whose);
  return { person, secret, endsAt };
};

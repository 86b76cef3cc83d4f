import { type PeopleErrorCode, personNotFound } from '../domain/access-error.ts';
import type { AccessEvent } from '../domain/access-event.ts';
import { checkPassword, invalidPassword } from '../domain/password.ts';
import {
  admitPerson,
  changePassword,
  changeRole,
  emailOf,
  invitePerson,
  needsCurrentPassword,
  type Person,
  removePerson,
  renamePerson,
} from '../domain/person.ts';
import type { Role } from '../domain/role.ts';
import {
  invitationMs,
  isOpen,
  secretLength,
  type Session,
  shortLinkMs,
} from '../domain/session.ts';
import type { SignedIn, SignInLink } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { mayMailInvitation } from './request-limits.ts';
import { admitCurrent } from './sign-in-attempts.ts';
import { type Decision, DomainError } from '../../kernel/decision.ts';

export interface Invitation {
  readonly person: Person;
  readonly secret: string;
  readonly endsAt: Date;
  /** Whether the person also gets a link by mail, if mail is set up. Limits may prevent it. */
  readonly isMailed: boolean;
}

/**
 * The caller counts it first with `admitInvitation`.
 * @throws DomainError `person_invalid`, `person_joined`, `people_full`
 */
export const invite = (ports: AccessPorts) => inviting(ports, 'newcomer');

/**
 * For operators: invites anybody, including people who lost their password.
 * @throws DomainError `person_invalid`, `people_full`, `account_deleted`
 */
export const inviteAnybody = (ports: AccessPorts) => inviting(ports, 'anybody');

const inviting =
  (ports: AccessPorts, whose: 'anybody' | 'newcomer') =>
  async (accountId: string, email: string, role: Role = 'owner'): Promise<Invitation> => {
    const { people, ids, clock } = ports;
    const decision = invitePerson({ id: ids.next('pers'), accountId, email, role }, clock.now());
    const person = await addOrFind(people, decision);
    const isMailed = await mayMailInvitation(ports, person);
    const resetsPassword = whose === 'anybody';
    return makeLink(ports, { person, lastsMs: invitationMs, whose, isMailed, resetsPassword });
  };

/**
 * Makes a link for oneself, or for a colleague who has not joined. The caller counts it first with `admitNewLink`.
 * @throws DomainError `person_not_found`, `person_joined`
 */
export const renewLink =
  (ports: AccessPorts) =>
  async ({ person: maker }: SignedIn, personId: string): Promise<Invitation> => {
    const person = await ports.people.find(personId);
    if (person?.accountId !== maker.accountId) throw personNotFound(personId);
    const isOwn = person.id === maker.id;
    const whose = isOwn ? 'anybody' : 'newcomer';
    const isMailed = !isOwn && (await mayMailInvitation(ports, person));
    const draft = { person, lastsMs: invitationMs, whose, isMailed } as const;
    return makeLink(ports, { ...draft, resetsPassword: false });
  };

/** Inserts first and looks up on conflict, so that two simultaneous invitations return the same person. */
const addOrFind = async (
  people: AccessPorts['people'],
  decision: Decision<Person, AccessEvent>,
): Promise<Person> => {
  const { accountId, email } = decision.state;
  try {
    await people.add(decision, (all) => {
      admitPerson(all, email);
    });
    return decision.state;
  } catch (error) {
    if (!isRefusal(error, 'person_taken')) throw error;
    const known = (await people.listByEmail(email)).find((one) => one.accountId === accountId);
    if (!known) throw error;
    return known;
  }
};

/** @param accountId by default the oldest account of that address @throws DomainError `person_not_found` */
export const signInLinkFor =
  (ports: AccessPorts) =>
  async (email: string, accountId?: string): Promise<Invitation> => {
    const people = await ports.people.listByEmail(emailOf(email));
    const person = people.find((one) => accountId === undefined || one.accountId === accountId);
    if (!person) throw personNotFound(email);
    const draft = { person, lastsMs: shortLinkMs, whose: 'anybody', isMailed: false } as const;
    return makeLink(ports, { ...draft, resetsPassword: true });
  };

/** @throws DomainError `person_not_found`, `last_owner` */
export const giveRole =
  ({ people, clock }: AccessPorts) =>
  (accountId: string, personId: string, role: Role): Promise<Person> =>
    people.change(accountId, (all) => changeRole(all, personId, { role, now: clock.now() }));

/** @param name '' for none @throws DomainError `person_invalid` */
export const rename =
  ({ people }: AccessPorts) =>
  ({ person: { id, accountId } }: SignedIn, name: string): Promise<Person> =>
    people.change(accountId, (all) => {
      const person = all.find((one) => one.id === id);
      if (!person) throw personNotFound(id);
      return renamePerson(person, name);
    });

/** @throws DomainError `person_not_found`, `last_owner` */
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

export const unlessEnded = (error: unknown): void => {
  if (!isRefusal(error, 'session_not_found')) throw error;
};

const isRefusal = (error: unknown, code: PeopleErrorCode): boolean =>
  error instanceof DomainError && error.code === code;

interface LinkDraft {
  readonly person: Person;
  readonly lastsMs: number;
  readonly whose: 'anybody' | 'newcomer';
  /** If mail is set up, the person gets a separate link by mail, because this one is not stored. */
  readonly isMailed: boolean;
  readonly resetsPassword: boolean;
}

const makeLink = async (
  ports: AccessPorts,
  { person, lastsMs, whose, isMailed, resetsPassword }: LinkDraft,
): Promise<Invitation> => {
  const now = ports.clock.now();
  const endsAt = new Date(now.getTime() + lastsMs);
  const { secret, link } = newLink(ports, { person, endsAt, resetsPassword });
  const { id: personId, accountId, email } = person;
  const about = { accountId, occurredAt: now, personId, email };
  const events: readonly AccessEvent[] = [
    { type: 'sign_in_link_made', ...about },
    ...(isMailed ? [{ type: 'link_mail_wanted', ...about, whose } as const] : []),
  ];
  await ports.signInLinks.add(link, events, whose);
  return { person, secret, endsAt: link.endsAt, isMailed };
};

export const newLink = (
  { keyMaterial }: Pick<AccessPorts, 'keyMaterial'>,
  { person, ...rest }: { readonly person: Person } & Pick<SignInLink, 'endsAt' | 'resetsPassword'>,
): { readonly secret: string; readonly link: SignInLink } => {
  const secret = keyMaterial.randomBase62(secretLength);
  return { secret, link: { secretHash: keyMaterial.sha256(secret), personId: person.id, ...rest } };
};

/**
 * Chooses a password. People without a password need no current one, and neither does the first change after a link
 * that was mailed or made by the operator. Attempts at the current one count as sign-in attempts. Of several changes at
 * once, one succeeds. All other sessions and all links of the person end.
 * @throws DomainError `password_invalid`, `too_many_sign_ins`; `session_not_found` if the current session ended
 * meanwhile
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

/** A sign-in compares all passwords of an address together, so that its timing does not reveal how many there are. */
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
    throw invalidPassword('The current password is wrong.', 'current');
  }
};

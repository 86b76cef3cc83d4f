import {
  addressInvalid,
  type PeopleErrorCode,
  personJoined,
  personNotFound,
  signInRefused,
} from './access-error.ts';
import type { AccessEvent } from './access-event.ts';
import type { Role } from './role.ts';
import type { Session } from './session.ts';
import { type Decision, DomainError } from '../../kernel/decision.ts';
import { isName } from '../../kernel/text.ts';

const atom = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]+";
const label = '(?!-)[\\p{L}\\p{N}\\p{M}-]{1,63}(?<!-)';
/**
 * Excludes quotes, comments and brackets, because mail programs remove them and mail must reach the stored address (RFC
 * 5321, 4.1.2; RFC 6531).
 */
const shape = new RegExp(`^${atom}(?:\\.${atom})*@(?:${label}\\.)+(?!\\p{N}+$)${label}$`, 'u');
/** In characters: the whole address without brackets, and the part before the `@` (RFC 5321, section 4.5.3.1). */
const longest = { all: 254, local: 64 } as const;

export const emailOf = (text: string): string => text.trim().toLowerCase();

/** A plausibility check; only sending mail would prove the address. @param email as `emailOf` gives it */
export const isEmail = (email: string): boolean =>
  email.length <= longest.all &&
  email.indexOf('@') <= longest.local &&
  // Other spellings of the same letters would count as other addresses.
  email === email.normalize('NFKC') &&
  shape.test(email);

export interface Person {
  readonly id: string;
  readonly accountId: string;
  /** In lower case and unique within an account. A human with several accounts is one person in each. */
  readonly email: string;
  readonly role: Role;
  readonly name: string | undefined;
  /** A hash from `Passwords`; undefined for people without a password, who can sign in only by a link. */
  readonly passwordHash: string | undefined;
  readonly createdAt: Date;
  /**
   * Time of the first sign-in. Before it a colleague may make another link for the person; afterwards only the person
   * may.
   */
  readonly joinedAt: Date | undefined;
  /**
   * When the person first showed that the address is theirs, by a link that was mailed to it or that the operator made.
   * Before that, somebody else may have typed the address and signed in by the link on their screen.
   */
  readonly provenAt: Date | undefined;
  readonly factorSince: Date | undefined;
}

const nothingYet = {
  name: undefined,
  passwordHash: undefined,
  joinedAt: undefined,
  provenAt: undefined,
  factorSince: undefined,
};

/** @throws DomainError `person_invalid` */
export const invitePerson = (
  draft: Pick<Person, 'id' | 'accountId' | 'email' | 'role'>,
  now: Date,
): Decision<Person, AccessEvent> => {
  const email = emailOf(draft.email);
  if (!isEmail(email)) throw addressInvalid(email);
  const { id: personId, accountId, role } = draft;
  return {
    state: { ...draft, email, createdAt: now, ...nothingYet },
    events: [{ type: 'person_invited', accountId, occurredAt: now, personId, email, role }],
  };
};

/** @param name '' for none @throws DomainError `person_invalid` */
export const renamePerson = (person: Person, name: string): Decision<Person, AccessEvent> => {
  const text = name.trim();
  if (text !== '' && !isName(text, 100)) {
    throw new DomainError<PeopleErrorCode>(
      'person_invalid',
      'A name has at most 100 characters, on one line and without direction marks.',
    );
  }
  return { state: { ...person, name: text === '' ? undefined : text }, events: [] };
};

export const mostPeople = 100;
export const mostOfAddress = 100;

/** @param people all of the account @throws DomainError `people_full` */
export const admitPerson = (people: readonly Person[], email: string): void => {
  if (people.length < mostPeople || people.some((one) => one.email === email)) return;
  throw new DomainError<PeopleErrorCode>(
    'people_full',
    `An account has at most ${String(mostPeople)} people. Remove somebody before you invite more.`,
  );
};

/** Without the current password, a thief of a session could take over the account. */
export const needsCurrentPassword = (
  { passwordHash }: Pick<Person, 'passwordHash'>,
  { resetsPassword }: Pick<Session, 'resetsPassword'>,
): boolean => passwordHash !== undefined && !resetsPassword;

export type SignInProof =
  | { readonly way: 'password'; readonly passwordHash: string }
  | { readonly way: 'link'; readonly linkHash: string };

interface Admitted {
  readonly person: Person;
  /** `all` are links, sessions and the password. */
  readonly ends: 'nothing' | 'links' | 'all';
}

/**
 * Admits a person to a new session. The first one joins and ends other links, because another person may have kept one.
 * The first proof of the address ends all that a stranger may have begun.
 * @throws DomainError `sign_in_refused` if the password has changed since it matched, or the person was removed
 */
export const admitToSession = (
  person: Person | undefined,
  proof: SignInProof,
  { startedAt, resetsPassword }: Pick<Session, 'startedAt' | 'resetsPassword'>,
): Admitted => {
  if (!person) throw signInRefused();
  if (proof.way === 'password' && person.passwordHash !== proof.passwordHash) throw signInRefused();
  const { joinedAt = startedAt } = person;
  if (resetsPassword && !person.provenAt) {
    const proven = { joinedAt, provenAt: startedAt, passwordHash: undefined };
    return { person: { ...person, ...proven }, ends: 'all' };
  }
  return person.joinedAt
    ? { person, ends: 'nothing' }
    : { person: { ...person, joinedAt }, ends: 'links' };
};

/** @param whose `newcomer`: only for a person who has not joined @throws DomainError `person_joined` */
export const admitToLink = ({ joinedAt, email }: Person, whose: 'anybody' | 'newcomer'): void => {
  if (whose === 'newcomer' && joinedAt) throw personJoined(email);
};

export const changePassword = (
  person: Person,
  passwordHash: string,
  now: Date,
): Decision<Person, AccessEvent> => {
  const { id: personId, accountId } = person;
  return {
    state: { ...person, passwordHash },
    events: [{ type: 'password_changed', accountId, occurredAt: now, personId }],
  };
};

/** @param people all of the account @throws DomainError `person_not_found`, `last_owner` */
export const changeRole = (
  people: readonly Person[],
  personId: string,
  { role, now }: { readonly role: Role; readonly now: Date },
): Decision<Person, AccessEvent> => {
  const person = personIn(people, personId);
  if (person.role === role) return { state: person, events: [] };
  if (role !== 'owner') refuseLastOwner(people, person);
  const { accountId, email, role: from } = person;
  const about = { accountId, occurredAt: now, personId, email };
  return {
    state: { ...person, role },
    events: [{ type: 'person_role_changed', ...about, from, to: role }],
  };
};

const personIn = (people: readonly Person[], personId: string): Person => {
  const person = people.find(({ id }) => id === personId);
  if (!person) throw personNotFound(personId);
  return person;
};

/** @throws DomainError `last_owner` */
const refuseLastOwner = (people: readonly Person[], { id, email }: Person): void => {
  const owners = people.filter(({ role }) => role === 'owner');
  if (owners.some((one) => one.id !== id) || !owners.some((one) => one.id === id)) return;
  throw new DomainError<PeopleErrorCode>(
    'last_owner',
    `${email} is the only owner of this account. Make somebody else an owner first.`,
  );
};

/**
 * Refuses to remove the last owner.
 * @param people all of the account
 * @throws DomainError `person_not_found`, `last_owner`
 */
export const removePerson = (
  people: readonly Person[],
  personId: string,
  now: Date,
): readonly AccessEvent[] => {
  const person = personIn(people, personId);
  refuseLastOwner(people, person);
  const { accountId, email } = person;
  return [{ type: 'person_removed', accountId, occurredAt: now, personId, email }];
};

import type { Decision } from '../../kernel/decision.ts';
import { DomainError } from '../../kernel/domain-error.ts';
import type { AccessEvent } from './access-event.ts';
import { emailOf, isEmail } from './email.ts';
import { personNotFound, type PeopleErrorCode } from './people-error.ts';

/** A person who signs in to the dashboard of one account. */
export interface Person {
  readonly id: string;
  readonly accountId: string;
  /** Lower case. Unique within an account; a human with several accounts is one person in each. */
  readonly email: string;
  /** As `Passwords` made it; undefined until there is one: then only links lead in. */
  readonly passwordHash: string | undefined;
  readonly createdAt: Date;
  /**
   * When they first signed in. Until then a colleague may make another link for them; afterwards only they themselves
   * may.
   */
  readonly joinedAt: Date | undefined;
}

/** @throws DomainError `person_invalid` */
export const invitePerson = (
  draft: Pick<Person, 'id' | 'accountId' | 'email'>,
  now: Date,
): Decision<Person, AccessEvent> => {
  const email = emailOf(draft.email);
  if (!isEmail(email)) {
    throw new DomainError<PeopleErrorCode>(
      'person_invalid',
      `"${email}" is not an e-mail address; write it like keeper@shop.example.`,
    );
  }
  const { id: personId, accountId } = draft;
  return {
    state: { ...draft, email, passwordHash: undefined, createdAt: now, joinedAt: undefined },
    events: [{ type: 'person_invited', accountId, occurredAt: now, personId, email }],
  };
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

/**
 * The last person cannot be removed.
 * @param people all of the account
 * @throws DomainError `person_not_found`, `last_person`
 */
export const removePerson = (
  people: readonly Person[],
  personId: string,
  now: Date,
): readonly AccessEvent[] => {
  const person = people.find(({ id }) => id === personId);
  if (!person) throw personNotFound(personId);
  if (people.length === 1) {
    throw new DomainError<PeopleErrorCode>(
      'last_person',
      `${person.email} is the only one who can sign in; invite somebody else first.`,
    );
  }
  const { accountId, email } = person;
  return [{ type: 'person_removed', accountId, occurredAt: now, personId, email }];
};

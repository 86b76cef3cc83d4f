import { DomainError } from '../../kernel/decision.ts';

export type AccessErrorCode =
  | 'account_not_found'
  | 'account_deleted'
  | 'account_invalid'
  | 'account_not_restorable'
  | 'api_key_not_found'
  | 'api_key_invalid'
  | 'api_keys_full'
  | 'invalid_api_key';

export const accountNotFound = (id: string): DomainError<AccessErrorCode> =>
  new DomainError('account_not_found', `There is no account with the id ${id}.`);

/** Only operators see it, because nobody can sign in to a deleted account and its keys do not work. */
export const accountDeleted = (id: string): DomainError<AccessErrorCode> =>
  new DomainError(
    'account_deleted',
    `The account ${id} is deleted. Restore it first: account restore --account ${id}`,
  );

export const apiKeyNotFound = (id: string): DomainError<AccessErrorCode> =>
  new DomainError('api_key_not_found', `There is no API key with the id ${id}.`);

export type PeopleErrorCode =
  | 'person_invalid'
  | 'person_not_found'
  | 'person_taken'
  | 'person_joined'
  | 'people_full'
  | 'last_owner'
  | 'password_invalid'
  | 'sign_in_refused'
  | 'sign_in_link_invalid'
  | 'too_many_sign_ins'
  | 'too_many_requests'
  | 'session_not_found'
  | 'factor_invalid'
  | 'factor_not_found'
  | 'factor_refused';

/** After `retryAfter`, one more attempt is admitted. */
export class TooMany extends DomainError<PeopleErrorCode> {
  /** Whole seconds, at least one. */
  readonly retryAfter: number;

  constructor(
    code: 'too_many_sign_ins' | 'too_many_requests',
    message: string,
    retryAfter: number,
  ) {
    super(code, message);
    this.retryAfter = retryAfter;
  }
}

export const addressInvalid = (email: string): DomainError<PeopleErrorCode> =>
  new DomainError(
    'person_invalid',
    `"${email}" is not an email address; write it like keeper@shop.example.`,
  );

export const personNotFound = (person: string): DomainError<PeopleErrorCode> => {
  const named = person.includes('@') ? 'email address' : 'id';
  return new DomainError('person_not_found', `There is nobody with the ${named} ${person}.`);
};

export const personTaken = (email: string): DomainError<PeopleErrorCode> =>
  new DomainError('person_taken', `${email} is in this account already.`);

/** A person who has signed in before needs no invitation. */
export const personJoined = (email: string): DomainError<PeopleErrorCode> =>
  new DomainError(
    'person_joined',
    `${email} has signed in before: only they or the operator can create a link for them.`,
  );

/** The same answer for every cause, so that it does not reveal which people exist. */
export const signInRefused = (): DomainError<PeopleErrorCode> =>
  new DomainError(
    'sign_in_refused',
    'Wrong email address or password. If you have no password, ask for a sign-in link.',
  );

export const signInLinkInvalid = (): DomainError<PeopleErrorCode> =>
  new DomainError(
    'sign_in_link_invalid',
    'This link was used already or has expired. Sign in with your password, or ask for a new link.',
  );

export const sessionNotFound = (): DomainError<PeopleErrorCode> =>
  new DomainError('session_not_found', 'That session has already ended.');

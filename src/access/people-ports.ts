import type { Decision } from '../kernel/decision.ts';
import type { AccessEvent } from './domain/access-event.ts';
import type { Account } from './domain/account.ts';
import type { Person } from './domain/person.ts';
import type { Session } from './domain/session.ts';

/** Who signs in to the dashboards. */
export abstract class People {
  /** @throws DomainError `person_taken` (by any account), `account_not_found` */
  abstract add(decision: Decision<Person, AccessEvent>): Promise<void>;

  /** Of one account, oldest first. */
  abstract list(accountId: string): Promise<readonly Person[]>;

  abstract find(id: string): Promise<Person | undefined>;

  /** @param email as `emailOf` gives it */
  abstract findByEmail(email: string): Promise<Person | undefined>;

  /**
   * Locks somebody, decides, stores, and ends all their other sessions and all their links; together or not at all.
   * Of rivals who come by different sessions, one succeeds.
   * @param sessionId by which it is changed, and which goes on
   * @throws DomainError `person_not_found`; `session_not_found` when that one has ended
   */
  abstract changePassword(
    id: string,
    sessionId: string,
    decide: (person: Person) => Decision<Person, AccessEvent>,
  ): Promise<void>;

  /**
   * Removes somebody with all sessions and links. Locks the people of the account, decides and removes as one step:
   * of rivals who remove each other, one stays.
   * @throws DomainError whatever `decide` throws
   */
  abstract remove(
    accountId: string,
    id: string,
    decide: (people: readonly Person[]) => readonly AccessEvent[],
  ): Promise<void>;
}

/** One who is signed in, as every request needs it. */
export interface SignedIn {
  readonly session: Session;
  readonly person: Person;
  readonly account: Account;
}

/** What lets somebody in. */
export type SignInProof =
  | {
      readonly way: 'password';
      /** The one that the password matched. */
      readonly passwordHash: string;
    }
  | { readonly way: 'link'; readonly linkHash: string };

/** A session that begins. */
export interface SessionStart {
  readonly session: Session;
  readonly secretHash: string;
  readonly proof: SignInProof;
  readonly events: readonly AccessEvent[];
}

/** Secrets come and stay as SHA-256 in lower-case hex. */
export abstract class Sessions {
  /**
   * Locks the person, asks again whether the proof holds, and stores session and events; together or not at all.
   * The password must not have changed since it matched. The link is used up: of many who bring the same at once,
   * one is let in.
   * @throws DomainError `sign_in_refused` by password, `sign_in_link_invalid` by link; also when the person is gone
   */
  abstract start(start: SessionStart): Promise<void>;

  /** On every request: one look-up by an index. Never serves an answer older than the last change. */
  abstract findBySecretHash(secretHash: string): Promise<SignedIn | undefined>;

  /** Of one person, newest first; also those that are over. */
  abstract list(personId: string): Promise<readonly Session[]>;

  /** Ends one of that person. @throws DomainError `session_not_found` */
  abstract end(personId: string, id: string, events: readonly AccessEvent[]): Promise<void>;

  /** Forgets those that ended before `before`. @returns how many */
  abstract sweep(before: Date): Promise<number>;
}

export interface SignInLink {
  readonly secretHash: string;
  readonly personId: string;
  readonly endsAt: Date;
}

/** Links that sign somebody in, once. Secrets come and stay as SHA-256 in lower-case hex. */
export abstract class SignInLinks {
  /** Stores it and the events together. @throws DomainError `person_not_found` */
  abstract add(link: SignInLink, events: readonly AccessEvent[]): Promise<void>;

  /**
   * Whose it is; `Sessions.start` uses it up.
   * @returns the id of a person; undefined when it is unknown, used or over
   */
  abstract personIdOf(secretHash: string, now: Date): Promise<string | undefined>;

  /** Forgets those that ended before `before`. @returns how many */
  abstract sweep(before: Date): Promise<number>;
}

/**
 * Hashes of passwords (scrypt, RFC 7914) in a form that says how they were made. Few are worked out side by side.
 * @throws Unavailable while too many wait for their turn
 */
export abstract class Passwords {
  /** Costs about a sixth of a second of one core on purpose. */
  abstract hash(password: string): Promise<string>;

  /** @param hash undefined where there is none: takes as long and says no. Never throws for a hash it cannot read */
  abstract matches(password: string, hash: string | undefined): Promise<boolean>;

  /** At least the 10 000 commonest passwords, in lower case. */
  abstract commonest(): Promise<ReadonlySet<string>>;
}

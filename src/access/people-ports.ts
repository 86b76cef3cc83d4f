import type { Decision } from '../kernel/decision.ts';
import type { AccessEvent } from './domain/access-event.ts';
import type { Account } from './domain/account.ts';
import type { Person } from './domain/person.ts';
import type { Session } from './domain/session.ts';

/** Who signs in to the dashboards. */
export abstract class People {
  /** @throws DomainError `person_taken` (in the same account), `account_not_found` */
  abstract add(decision: Decision<Person, AccessEvent>): Promise<void>;

  /** Of one account, oldest first. */
  abstract list(accountId: string): Promise<readonly Person[]>;

  abstract find(id: string): Promise<Person | undefined>;

  /** Of all accounts, oldest first. @param email as `emailOf` gives it */
  abstract listByEmail(email: string): Promise<readonly Person[]>;

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

/** Somebody with the account that they sign in to. */
export interface Membership {
  readonly person: Person;
  readonly account: Account;
}

/** One who is signed in, as every request needs it. */
export interface SignedIn extends Membership {
  readonly session: Session;
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
   * one is let in. Who comes for the first time has joined from then on, and all their other links end: somebody else
   * may have kept one.
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
  /**
   * Locks the person, and stores the link and the events together.
   * @param whose `newcomer`: only for somebody who has not joined
   * @throws DomainError `person_not_found`, `person_joined`
   */
  abstract add(
    link: SignInLink,
    events: readonly AccessEvent[],
    whose?: 'anybody' | 'newcomer',
  ): Promise<void>;

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
  /**
   * Costs about a sixth of a second of one core on purpose.
   * @param beside a hash that is compared together with this one: `matching` then takes as long for both as for one
   */
  abstract hash(password: string, beside?: string): Promise<string>;

  /**
   * Which of the hashes the password has. Where there are none it takes as long as for one. Never throws for a hash it
   * cannot read.
   */
  abstract matching(password: string, hashes: readonly string[]): Promise<readonly string[]>;

  /** @param hash undefined where there is none: takes as long and says no */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    return (await this.matching(password, hash === undefined ? [] : [hash])).length > 0;
  }

  /** At least the 10 000 commonest passwords, in lower case. */
  abstract commonest(): Promise<ReadonlySet<string>>;
}

import type { AccessEvent } from './domain/access-event.ts';
import type { Account } from './domain/account.ts';
import type { MailReason, MailRequest, PastMail } from './domain/mail-request.ts';
import type { Person, SignInProof } from './domain/person.ts';
import type { Passkey, SecondFactor } from './domain/second-factor.ts';
import type { Session } from './domain/session.ts';
import type { Decision } from '../kernel/decision.ts';

export abstract class People {
  /**
   * Adds a person and locks the account's people meanwhile.
   * @param admit gets the people of the account, and throws to refuse another
   * @throws DomainError `person_taken` (in the same account), `account_not_found`, and whatever `admit` throws
   */
  abstract add(
    decision: Decision<Person, AccessEvent>,
    admit?: (people: readonly Person[]) => void,
  ): Promise<void>;

  /** Lists the people of one account, the oldest first, at most `mostPeople`. */
  abstract list(accountId: string): Promise<readonly Person[]>;

  abstract find(id: string): Promise<Person | undefined>;

  /**
   * Lists the people of all accounts, at most `mostOfAddress`: those who proved the address first, then the oldest.
   * People of deleted accounts come last.
   * @param email as `emailOf` gives it
   */
  abstract listByEmail(email: string): Promise<readonly Person[]>;

  /**
   * Locks the person, decides, and saves the person in one step with the end of all their other sessions and all links.
   * The remaining session no longer `resetsPassword`. Of concurrent changes from different sessions, one succeeds.
   * @param sessionId the session that makes the change; it stays valid
   * @throws DomainError `person_not_found`; `session_not_found` if that session has ended
   */
  abstract changePassword(
    id: string,
    sessionId: string,
    decide: (person: Person) => Decision<Person, AccessEvent>,
  ): Promise<void>;

  /**
   * Locks the account's people, so that two owners cannot demote each other at once.
   * @throws whatever `decide` throws
   */
  abstract change(
    accountId: string,
    decide: (people: readonly Person[]) => Decision<Person, AccessEvent>,
  ): Promise<Person>;

  /**
   * Removes the person with all sessions and links in one step. Two owners cannot remove each other at once.
   * @throws whatever `decide` throws
   */
  abstract remove(
    accountId: string,
    id: string,
    decide: (people: readonly Person[]) => readonly AccessEvent[],
  ): Promise<void>;
}

export interface Membership {
  readonly person: Person;
  readonly account: Account;
}

export interface SignedIn extends Membership {
  readonly session: Session;
}

export interface SessionStart {
  readonly session: Session;
  readonly secretHash: string;
  readonly proof: SignInProof;
  readonly events: readonly AccessEvent[];
}

/** Secrets are SHA-256 hashes in lower-case hex. */
export abstract class Sessions {
  /**
   * Locks the person, lets `admitToSession` decide, and saves person, session and events in one step. A link works once:
   * of many simultaneous uses, one succeeds. Beyond `mostSessions` of the person, the oldest session ends.
   * @throws DomainError `sign_in_refused` by password, `sign_in_link_invalid` by link; also when the person was removed
   */
  abstract start(start: SessionStart): Promise<void>;

  /**
   * Finds the session by one index look-up, because every request calls it. Never returns an answer older than the last
   * change.
   */
  abstract findBySecretHash(secretHash: string): Promise<SignedIn | undefined>;

  /** Lists one person's sessions, including ended ones, the newest first, at most `mostSessions`. */
  abstract list(personId: string): Promise<readonly Session[]>;

  /**
   * Locks the session's person, decides, and saves session and events together. Beyond `mostSessions` signed-in
   * sessions, the oldest one ends.
   * @throws DomainError `session_not_found` if the session has ended
   */
  abstract change(
    id: string,
    decide: (session: Session) => Decision<Session, AccessEvent>,
  ): Promise<void>;

  /** Records when and from where the session was last used. Does nothing if the session has ended. */
  abstract see(id: string, seen: Pick<Session, 'seenAt' | 'network'>): Promise<void>;

  /** Ends one session of that person. @throws DomainError `session_not_found` */
  abstract end(personId: string, id: string, events: readonly AccessEvent[]): Promise<void>;
}

export abstract class SecondFactors {
  /** @returns a factor without methods for a person who has none */
  abstract find(personId: string): Promise<SecondFactor>;

  /**
   * Locks the person, decides, and saves factor and events together. Records at the person since when they have a
   * factor. Of many simultaneous uses of one code, one succeeds.
   * @throws DomainError `person_not_found`, and whatever `decide` throws
   */
  abstract change(
    personId: string,
    decide: (factor: SecondFactor, person: Person) => Decision<SecondFactor, AccessEvent>,
  ): Promise<SecondFactor>;
}

/** WebAuthn options as JSON, for a browser that makes or shows a passkey. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly person: Pick<Person, 'id' | 'email'>;
  readonly known: readonly string[];
}

/** @returns whether we made this challenge for the person who answers it */
export type IsOurChallenge = (challenge: string) => boolean;

export abstract class Passkeys {
  /** The origin where passkeys work; undefined if the dashboard has no host name, which browsers require. */
  abstract readonly origin: string | undefined;

  abstract creation(asked: PasskeyOptions): Promise<string>;
  abstract request(asked: PasskeyOptions): Promise<string>;

  /** @param shown the browser's answer, as JSON @returns undefined for anything invalid */
  abstract made(
    shown: string,
    isOurs: IsOurChallenge,
  ): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter'> | undefined>;

  /** Returns which of these passkeys was shown, with its new counter. @returns undefined for anything invalid */
  abstract shown(
    shown: string,
    known: readonly Passkey[],
    isOurs: IsOurChallenge,
  ): Promise<Pick<Passkey, 'id' | 'counter'> | undefined>;
}

export interface SignInLink {
  readonly secretHash: string;
  readonly personId: string;
  readonly endsAt: Date;
  /**
   * Whether the link proves that its user owns the address, because it was mailed or the operator made it. A link that
   * a signed-in person made proves nothing.
   */
  readonly resetsPassword: boolean;
}

/** One-time sign-in links. Secrets are SHA-256 hashes in lower-case hex. */
export abstract class SignInLinks {
  /**
   * Locks the person, and saves link and events together.
   * @param whose `newcomer`: only for a person who has not joined
   * @throws DomainError `person_not_found`, `person_joined`
   */
  abstract add(
    link: SignInLink,
    events: readonly AccessEvent[],
    whose?: 'anybody' | 'newcomer',
  ): Promise<void>;

  /**
   * Finds the link's person and does not use the link up; `Sessions.start` does.
   * @returns undefined if the link is unknown, used or expired
   */
  abstract personIdOf(secretHash: string, now: Date): Promise<string | undefined>;

  /** Returns a fixed property of the link. @returns false for an unknown link */
  abstract resetsPassword(secretHash: string): Promise<boolean>;
}

/** Hashes passwords (scrypt, RFC 7914), a few at a time. @throws Unavailable while too many wait for their turn */
export abstract class Passwords {
  /**
   * Hashes a password, slowly on purpose.
   * @param beside a hash to be compared together with this one: `matching` takes as long for both as for one
   */
  abstract hash(password: string, beside?: string): Promise<string>;

  /**
   * Returns the hashes that match the password. Takes as long without hashes as for one. Never throws for an unreadable
   * hash.
   */
  abstract matching(password: string, hashes: readonly string[]): Promise<readonly string[]>;

  /** @param hash undefined if there is none: takes as long and returns false */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    return (await this.matching(password, hash === undefined ? [] : [hash])).length > 0;
  }

  /** Returns at least the 10 000 commonest passwords, in lower case. */
  abstract commonest(): Promise<ReadonlySet<string>>;
}

export abstract class MailRequests {
  /**
   * Adds a request by the same statements for every address. Adding the same id again changes nothing while the request
   * waits.
   */
  abstract add(request: MailRequest): Promise<void>;

  /** Lists unanswered requests by turn and id. @param after returns only those that follow this one */
  abstract waiting(
    limit: number,
    after?: Pick<MailRequest, 'id' | 'turn'>,
  ): Promise<readonly MailRequest[]>;

  /**
   * Locks an unanswered request and lets `answer` decide. What `answer` saves through other ports, such as a link and
   * its mail, is saved in one step with the end of the request. Of many concurrent answers, one succeeds.
   * @param answer may run several times, so it only reads and stores.
   * @returns whether it sent a mail
   */
  abstract answer(
    id: string,
    now: Date,
    answer: (request: MailRequest, before: readonly PastMail[]) => Promise<boolean>,
  ): Promise<void>;

  /** Lists mails to the address that count together with this reason. */
  abstract mailed(email: string, reason: MailReason, now: Date): Promise<readonly PastMail[]>;
}

export interface MailedLink extends Membership {
  readonly secret: string;
  readonly endsAt: Date;
}

/** A mail to one person at their address. Its links are for people with the same address. */
export interface PersonalMail {
  readonly id: string;
  readonly reason: MailReason;
  readonly to: Membership;
  readonly occurredAt: Date;
  /** At least one, unless the mail only reports a change. */
  readonly links: readonly MailedLink[];
}

export abstract class PersonalMails {
  /** Queues the mail in the caller's transaction. Adding the same id again changes nothing. */
  abstract add(mail: PersonalMail): Promise<void>;
}

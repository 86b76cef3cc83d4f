import type { AccessEvent } from './domain/access-event.ts';
import type { Account } from './domain/account.ts';
import type { MailReason, MailRequest, PastMail } from './domain/mail-request.ts';
import type { Person } from './domain/person.ts';
import type { Passkey, SecondFactor } from './domain/second-factor.ts';
import type { Session } from './domain/session.ts';
import type { Decision } from '../kernel/decision.ts';

export abstract class People {
  /**
   * @param admit gets the people of the account, and throws to refuse another: meanwhile nobody adds one
   * @throws DomainError `person_taken` (in the same account), `account_not_found`, and whatever `admit` throws
   */
  abstract add(
    decision: Decision<Person, AccessEvent>,
    admit?: (people: readonly Person[]) => void,
  ): Promise<void>;

  /** Of one account, oldest first: `mostPeople` at most. */
  abstract list(accountId: string): Promise<readonly Person[]>;

  abstract find(id: string): Promise<Person | undefined>;

  /**
   * Of all accounts, those of deleted ones last: those who proved the address first, then the oldest. `mostOfAddress` at most.
   * @param email as `emailOf` gives it
   */
  abstract listByEmail(email: string): Promise<readonly Person[]>;

  /**
   * Locks the person, decides, stores, and ends all their other sessions and all links; together or not at all. The
   * session that stays no longer `resetsPassword`. Of rivals with different sessions, one succeeds.
   * @param sessionId the session that makes the change; it stays valid
   * @throws DomainError `person_not_found`; `session_not_found` when that one has ended
   */
  abstract changePassword(
    id: string,
    sessionId: string,
    decide: (person: Person) => Decision<Person, AccessEvent>,
  ): Promise<void>;

  /** Locks the account's people: of two who take each other's role, one stays an owner. @throws whatever `decide` throws */
  abstract change(
    accountId: string,
    decide: (people: readonly Person[]) => Decision<Person, AccessEvent>,
  ): Promise<Person>;

  /** With all sessions and links, as one step: of two who remove each other, one stays. @throws whatever `decide` throws */
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

export type SignInProof =
  | {
      readonly way: 'password';
      readonly passwordHash: string;
    }
  | { readonly way: 'link'; readonly linkHash: string };

export interface SessionStart {
  readonly session: Session;
  readonly secretHash: string;
  readonly proof: SignInProof;
  readonly events: readonly AccessEvent[];
}

/** Secrets come and stay as SHA-256 in lower-case hex. */
export abstract class Sessions {
  /**
   * Locks the person, checks the proof again, and stores session and events; together or not at all. The password must
   * not have changed since it matched. A link is used up: of many simultaneous uses, one succeeds. The first sign-in
   * marks the person as joined and ends all their other links, because another person may have kept one. So does the first
   * one that `resetsPassword`: it proves the address, and ends what was there before, sessions and password too. Beyond
   * `mostSessions` of the person, the oldest session ends.
   * @throws DomainError `sign_in_refused` by password, `sign_in_link_invalid` by link; also when the person was removed
   */
  abstract start(start: SessionStart): Promise<void>;

  /** On every request: one look-up by an index. Never serves an answer older than the last change. */
  abstract findBySecretHash(secretHash: string): Promise<SignedIn | undefined>;

  /** Of one person, newest first; also those that are over. `mostSessions` at most. */
  abstract list(personId: string): Promise<readonly Session[]>;

  /**
   * Locks the session's person, decides and stores, with the events. Beyond `mostSessions` that are signed in, the oldest
   * ends.
   * @throws DomainError `session_not_found` when it has ended
   */
  abstract change(
    id: string,
    decide: (session: Session) => Decision<Session, AccessEvent>,
  ): Promise<void>;

  /** Notes when and from where it was last used. Does nothing when it has ended. */
  abstract see(id: string, seen: Pick<Session, 'seenAt' | 'network'>): Promise<void>;

  /** Ends one of that person. @throws DomainError `session_not_found` */
  abstract end(personId: string, id: string, events: readonly AccessEvent[]): Promise<void>;
}

export abstract class SecondFactors {
  /** @returns one without any method for a person who has none */
  abstract find(personId: string): Promise<SecondFactor>;

  /**
   * Locks the person, decides and stores, with the events, and notes at the person since when there is one. Of many who
   * show the same code, one succeeds.
   * @throws DomainError `person_not_found`, and whatever `decide` throws
   */
  abstract change(
    personId: string,
    decide: (factor: SecondFactor, person: Person) => Decision<SecondFactor, AccessEvent>,
  ): Promise<SecondFactor>;
}

/** What a browser gets to make or show a passkey: options of WebAuthn as JSON. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly person: Pick<Person, 'id' | 'email'>;
  readonly known: readonly string[];
}

/** @returns whether we made this challenge for the one who answers it */
export type IsOurChallenge = (challenge: string) => boolean;

export abstract class Passkeys {
  /** Where they work; undefined where the dashboard has no name, because browsers want one. */
  abstract readonly origin: string | undefined;

  abstract creation(asked: PasskeyOptions): Promise<string>;
  abstract request(asked: PasskeyOptions): Promise<string>;

  /** @param shown what the browser answered, as JSON @returns undefined for anything that is not right */
  abstract made(
    shown: string,
    isOurs: IsOurChallenge,
  ): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter'> | undefined>;

  /** Which of these was shown, with its new counter. @returns undefined for anything that is not right */
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
   * Whether it proves that its user is the owner: it was mailed, or the operator made it. Not one that somebody with a
   * session made.
   */
  readonly resetsPassword: boolean;
}

/** One-time sign-in links. Secrets come and stay as SHA-256 in lower-case hex. */
export abstract class SignInLinks {
  /**
   * Locks the person, and stores the link and the events together.
   * @param whose `newcomer`: only for a person who has not joined
   * @throws DomainError `person_not_found`, `person_joined`
   */
  abstract add(
    link: SignInLink,
    events: readonly AccessEvent[],
    whose?: 'anybody' | 'newcomer',
  ): Promise<void>;

  /** Whose it is; `Sessions.start` uses it up. @returns the id of a person; undefined when it is unknown, used or over */
  abstract personIdOf(secretHash: string, now: Date): Promise<string | undefined>;

  /** Never changes. @returns false for an unknown link */
  abstract resetsPassword(secretHash: string): Promise<boolean>;
}

/** Password hashes (scrypt, RFC 7914), a few at a time. @throws Unavailable while too many wait for their turn */
export abstract class Passwords {
  /** Slow on purpose. @param beside a hash that is compared together with this one: `matching` takes as long for both as for one */
  abstract hash(password: string, beside?: string): Promise<string>;

  /** The hashes that match the password. Without hashes it takes as long as for one. Never throws for an unreadable hash. */
  abstract matching(password: string, hashes: readonly string[]): Promise<readonly string[]>;

  /** @param hash undefined where there is none: takes as long and returns no match */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    return (await this.matching(password, hash === undefined ? [] : [hash])).length > 0;
  }

  /** At least the 10 000 commonest passwords, in lower case. */
  abstract commonest(): Promise<ReadonlySet<string>>;
}

export abstract class MailRequests {
  /** The same statements for every address. Adding one with the same id again changes nothing while it waits. */
  abstract add(request: MailRequest): Promise<void>;

  /** Those without an answer, by turn and id. @param after only those that follow this one */
  abstract waiting(
    limit: number,
    after?: Pick<MailRequest, 'id' | 'turn'>,
  ): Promise<readonly MailRequest[]>;

  /**
   * Locks the request, unless it was answered, and lets `answer` decide. What that stores through other ports, like a
   * link and its mail, is stored together with the fact that the request is answered, or not at all: of many who answer
   * it, one does.
   * @param answer may run several times, so it only reads and stores. @returns whether it sent a mail
   */
  abstract answer(
    id: string,
    now: Date,
    answer: (request: MailRequest, before: readonly PastMail[]) => Promise<boolean>,
  ): Promise<void>;

  /** Mails to the address that count with this reason. */
  abstract mailed(email: string, reason: MailReason, now: Date): Promise<readonly PastMail[]>;
}

export interface MailedLink extends Membership {
  readonly secret: string;
  readonly endsAt: Date;
}

/** A mail to one person, whom it reaches by their address. Its links are for people with the same address. */
export interface PersonalMail {
  readonly id: string;
  readonly reason: MailReason;
  readonly to: Membership;
  readonly occurredAt: Date;
  /** At least one, unless the mail only brings news. */
  readonly links: readonly MailedLink[];
}

export abstract class PersonalMails {
  /** Queues it, in the transaction of the caller. Adding one with the same id again changes nothing. */
  abstract add(mail: PersonalMail): Promise<void>;
}

import type { Clock, Sealer } from '../kernel/ports.ts';
import type { Claimed, Most, Queue } from '../kernel/queue.ts';
import type { Mail, MailedFacts, MailPlan, PlannedMail } from './domain/mail.ts';
import type { Notification, NotificationKind, Told } from './domain/notification.ts';

/** Who reads notices: each person has read their own. */
export interface Reader {
  readonly accountId: string;
  readonly personId: string;
}

/** A notification as the dashboard shows it. Later ones have higher places. */
export type Notice = Notification & { readonly place: bigint };

/** The notices of each account. */
export abstract class Notices {
  /** Adding the same notification again changes nothing. @throws Error if there is no such account */
  abstract add(notification: Notification): Promise<void>;

  /** Newest first; without kinds of newer versions. @param before a place: only what is older than that */
  abstract list(accountId: string, limit: number, before?: bigint): Promise<readonly Notice[]>;

  /** The place of the newest one of the account; 0 if there is none. */
  abstract newest(accountId: string): Promise<bigint>;

  /** How many the person has not seen, without what they did themselves (`ownDoings`), counted up to `most`. */
  abstract unread(reader: Reader, most: number): Promise<number>;

  /**
   * Marks what is at this place or below it as seen. What was seen stays so.
   * @returns the highest place that the person had seen before
   */
  abstract markSeen(reader: Reader, place: bigint): Promise<bigint>;
}

export interface NotificationsPorts {
  readonly notices: Notices;
  readonly mails: Mails;
  readonly mailChoices: MailChoices;
  readonly recipients: Recipients;
  /** Undefined where there is no mail server. */
  readonly postman: Postman | undefined;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

/** A message that is due: one mail, or a summary of several to one person. */
export interface DueMessage extends Claimed {
  /** The same at every attempt: the id of its first mail. */
  readonly id: string;
  readonly accountId: string;
  readonly personId: string;
  /** The address. */
  readonly to: string;
  /** How often it was tried before. */
  readonly attempts: number;
  /** From then on it is not sent. */
  readonly until: Date;
  /** @throws Error if what is stored cannot be read: it is sealed under an unknown key, or of a newer version */
  readonly tells: () => readonly MailedFacts[];
}

/** Mail does not reach a person. */
export interface MailTrouble {
  readonly personId: string;
  readonly since: Date;
  /** What the mail server answered when it refused the address; undefined if we could not send the last message. */
  readonly refusal: string | undefined;
}

/** Why a message is never tried again; `late`: we could not send it in time. The reason of that is for the operator only. */
export interface GivenUp {
  readonly kind: 'refused' | 'late';
  readonly reason: string;
}

/** More are not counted. */
export const mostMailsCounted = 10_000;

export interface MailState {
  readonly waiting: number;
  /** When the oldest of them was to be sent; undefined if none waits. */
  readonly oldest: Date | undefined;
  /** Whom mail does not reach. */
  readonly unreached: number;
}

/**
 * Mails to people: a queue. Facts are sealed, since they may hold a link that signs in, and are deleted once a mail is done.
 */
export abstract class Mails implements Queue<DueMessage> {
  /**
   * Locks the person, decides with their mails of the last day, and stores the mail. Adding a mail with the same id again
   * changes nothing. To a person who is not of the account, nothing is added.
   * @param plan synchronous; undefined: the mail is not sent, but known from now on
   */
  abstract add(
    mail: Mail,
    now: Date,
    plan: (before: readonly PlannedMail[]) => MailPlan,
  ): Promise<void>;

  /** In the order of `inTurns`. Nothing joins a message that is claimed. */
  abstract claim(now: Date, leaseUntil: Date, most: Most): Promise<readonly DueMessage[]>;
  abstract nextDueAt(): Promise<Date | undefined>;

  /** The mail server took it: mail reaches the person again. */
  abstract sent(message: Claimed, now: Date): Promise<void>;

  /** Gives it back, to be tried at `nextAttemptAt`. */
  abstract retry(message: Claimed, nextAttemptAt: Date, reason: string): Promise<void>;

  /** It is never tried again: mail does not reach the person, from now on if it did until now. */
  abstract giveUp(message: Claimed, now: Date, why: GivenUp): Promise<void>;

  /** It is never tried again: the person no longer wants what it tells. */
  abstract leaveOut(message: Claimed, now: Date): Promise<void>;

  /** What should have been sent by now and was not, counted up to `mostMailsCounted`. */
  abstract state(now: Date): Promise<MailState>;

  /** People of the account whom mail does not reach. */
  abstract troubles(accountId: string): Promise<readonly MailTrouble[]>;
}

/** Who gets mail about an account. */
export interface Recipient {
  readonly personId: string;
  /** The address. */
  readonly to: string;
}

/** The people of accounts, whom another context knows. */
export abstract class Recipients {
  /**
   * Those who have signed in before, and whoever has the address that the account was created with. That of somebody else
   * who was invited and never came may be mistyped, and a stranger would read about the account.
   */
  abstract of(accountId: string): Promise<readonly Recipient[]>;

  /** @throws Error if there is no such account */
  abstract accountName(accountId: string): Promise<string>;

  /** False for an account that is deleted. */
  abstract isInService(accountId: string): Promise<boolean>;
}

/** Which kinds each person has switched off; all others are on, also those that are new. */
export abstract class MailChoices {
  /** @returns for each of these people who has switched off any, which ones */
  abstract off(
    personIds: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlySet<NotificationKind>>>;

  /** Sets the kinds that are off. Of a person who does not exist, nothing is kept. */
  abstract choose(personId: string, off: ReadonlySet<NotificationKind>): Promise<void>;

  /** Switches these off, and leaves the others. */
  abstract switchOff(personId: string, kinds: readonly NotificationKind[]): Promise<void>;
}

/** A message, as it is handed to the mail server. */
export interface OutgoingMail {
  /** The same at every attempt, so that mail programs show it once. */
  readonly id: string;
  /** The address. */
  readonly to: string;
  readonly account: string;
  /** At least one; of several it is a summary. */
  readonly told: readonly Told[];
  /** Switches these kinds off for the person; undefined if nobody can switch them off. */
  readonly unsubscribeToken: string | undefined;
}

/**
 * `refused`: the server will never take it for this address. `failed`: it did not answer, or cannot take it now, or takes
 * nothing from us. Reasons contain no secret.
 */
export type Posted =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** What came of a message. */
export type Delivered = Posted | GivenUp | { readonly kind: 'left_out' };

/** The mail server. */
export abstract class Postman {
  /** Ends within a minute, and soon after the signal. Never throws. A message that failed may have been taken all the same. */
  abstract post(mail: OutgoingMail, signal: AbortSignal): Promise<Posted>;
}

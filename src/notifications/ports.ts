import type { Clock, Sealer } from '../kernel/ports.ts';
import type { Claimed, Most, Queue } from '../kernel/queue.ts';
import type { Mail, MailedFacts, MailPlan, PlannedMail } from './domain/mail.ts';
import type { Notification, NotificationKind, NotificationContent } from './domain/notification.ts';

export interface Reader {
  readonly accountId: string;
  readonly personId: string;
}

/** A notification in the dashboard. Newer ones have higher places. */
export type Notice = Notification & { readonly place: bigint };

export abstract class Notices {
  /** Adding the same notification again changes nothing. @throws Error if the account does not exist */
  abstract add(notification: Notification): Promise<void>;

  /** The newest first, without kinds of newer versions. @param before returns only lower places */
  abstract list(accountId: string, limit: number, before?: bigint): Promise<readonly Notice[]>;

  abstract newest(accountId: string): Promise<bigint>;

  /** Counts up to `most` unseen notices, without the person's own actions (`ownDoings`). */
  abstract unread(reader: Reader, most: number): Promise<number>;

  /** Marks notices up to this place as seen. The mark never moves back. @returns the highest place seen before */
  abstract markSeen(reader: Reader, place: bigint): Promise<bigint>;
}

export interface NotificationsPorts {
  readonly notices: Notices;
  readonly mails: Mails;
  readonly mailChoices: MailChoices;
  readonly recipients: Recipients;
  readonly postman: Postman | undefined;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

export interface DueMessage extends Claimed {
  readonly id: string;
  readonly accountId: string;
  readonly personId: string;
  readonly to: string;
  readonly attempts: number;
  readonly until: Date;
  /** @throws Error if the facts are encrypted with an unknown key or from a newer version */
  readonly tells: () => readonly MailedFacts[];
}

export interface MailTrouble {
  readonly personId: string;
  readonly since: Date;
  /** The server's answer when it refused the address; undefined if our last attempt failed. */
  readonly refusal: string | undefined;
}

/** Why a message is never tried again. `late`: it was not sent in time, and `reason` is for the operator only. */
export interface GivenUp {
  readonly kind: 'refused' | 'late';
  readonly reason: string;
}

export interface MailState {
  readonly waiting: number;
  readonly oldest: Date | undefined;
  readonly unreached: number;
}

export abstract class Mails implements Queue<DueMessage> {
  /**
   * Locks the person, plans with their mails of the last day, and stores the mail. Adding the same id again changes
   * nothing, and nothing is added for people outside the account.
   * @param plan synchronous; undefined: the mail is remembered but not sent
   */
  abstract add(
    mail: Mail,
    now: Date,
    plan: (before: readonly PlannedMail[]) => MailPlan,
  ): Promise<void>;

  /** In the order of `inTurns`. A claimed message gets no more mails. */
  abstract claim(now: Date, leaseUntil: Date, most: Most): Promise<readonly DueMessage[]>;
  abstract nextDueAt(): Promise<Date | undefined>;

  /** The server accepted it, so mail reaches the person again. */
  abstract sent(message: Claimed, now: Date): Promise<void>;

  abstract retry(message: Claimed, nextAttemptAt: Date, reason: string): Promise<void>;

  /** Never tries again, and records that mail does not reach the person. */
  abstract giveUp(message: Claimed, now: Date, why: GivenUp): Promise<void>;

  abstract leaveOut(message: Claimed, now: Date): Promise<void>;

  /** Counts overdue mails up to `mostCounted` of the queues. */
  abstract state(now: Date): Promise<MailState>;

  abstract troubles(accountId: string): Promise<readonly MailTrouble[]>;
}

export interface Recipient {
  readonly personId: string;
  readonly to: string;
}

export abstract class Recipients {
  /** People who have signed in, and the account's first address. Other invited addresses may be mistyped. */
  abstract of(accountId: string): Promise<readonly Recipient[]>;

  abstract accountName(accountId: string): Promise<string>;

  abstract isInService(accountId: string): Promise<boolean>;
}

/** The kinds that each person has switched off. New kinds are on. */
export abstract class MailChoices {
  abstract off(
    personIds: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlySet<NotificationKind>>>;

  /** Sets the kinds that are off. Does nothing if the person does not exist. */
  abstract choose(personId: string, off: ReadonlySet<NotificationKind>): Promise<void>;

  abstract switchOff(personId: string, kinds: readonly NotificationKind[]): Promise<void>;
}

export interface OutgoingMail {
  /** The same for each attempt, so that mail programs show it once. */
  readonly id: string;
  readonly to: string;
  readonly account: string;
  readonly told: readonly NotificationContent[];
  readonly unsubscribeToken: string | undefined;
}

/** `refused`: never for this address. `failed`: no answer, busy, or it refuses us. Reasons hold no secret. */
export type Posted =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export type Delivered = Posted | GivenUp | { readonly kind: 'left_out' };

export abstract class Postman {
  /** Ends within a minute, and soon after the signal. Never throws. A failed message may have been sent. */
  abstract post(mail: OutgoingMail, signal: AbortSignal): Promise<Posted>;
}

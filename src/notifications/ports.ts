import type { Clock } from '../kernel/clock.ts';
import type { Sealer } from '../kernel/sealer.ts';
import type { Notification } from './domain/notification.ts';
import type { MailChoices, Mails, Postman, Recipients } from './mail-ports.ts';

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

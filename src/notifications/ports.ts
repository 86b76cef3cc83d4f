import type { Clock } from '../kernel/clock.ts';
import type { Sealer } from '../kernel/sealer.ts';
import type { Notification } from './domain/notification.ts';
import type { EndingOperation } from './domain/removal-watch.ts';
import type { Look } from './domain/look.ts';
import type { Memory } from './domain/memory.ts';
import type { WatchedDomain } from './domain/watched-domain.ts';
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

export interface KeptWatch {
  readonly memory: Memory;
  /** Differs after each `save`. */
  readonly version: number;
}

export interface DueWatch {
  readonly subject: string;
  readonly lookAt: Date;
}

/** What is remembered of each watched thing. */
export abstract class Watches {
  abstract get(subject: string): Promise<KeptWatch | undefined>;

  /**
   * Stores memory and events together, if nobody has stored the watch since it was read.
   * @param since the version that was read; undefined if there was none
   * @returns whether it was stored
   */
  abstract save(subject: string, since: number | undefined, look: Look<Memory>): Promise<boolean>;

  /** Forgets it, if nobody has stored it since. */
  abstract forget(subject: string, since: number): Promise<void>;

  /** What to look at now, the longest overdue first. @param after only what comes after it in that order */
  abstract due(now: Date, limit: number, after?: DueWatch): Promise<readonly DueWatch[]>;

  /** When to look next: in the past if something is due now. */
  abstract nextDueAt(): Promise<Date | undefined>;
}

/** The custom domains, which another context keeps. */
export abstract class WatchedDomains {
  /** Removed ones too. */
  abstract find(id: string): Promise<WatchedDomain | undefined>;
}

/** The callers of the API, whom another context knows. */
export abstract class ApiCallers {
  /** Ids of all accounts, in any order. */
  abstract accounts(): Promise<readonly string[]>;

  /** Whether the account has called the operation within the last 30 days. */
  abstract stillCalls(accountId: string, operation: string): Promise<boolean>;
}

export interface NotificationsPorts {
  readonly notices: Notices;
  readonly watches: Watches;
  readonly domains: WatchedDomains;
  readonly callers: ApiCallers;
  readonly endings: readonly EndingOperation[];
  readonly mails: Mails;
  readonly mailChoices: MailChoices;
  readonly recipients: Recipients;
  /** Undefined where there is no mail server. */
  readonly postman: Postman | undefined;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

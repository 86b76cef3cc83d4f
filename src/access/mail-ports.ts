import type { MailReason, MailRequest, PastMail } from './domain/mail-request.ts';
import type { Membership } from './people-ports.ts';

/** Mails that were asked for, and when mails were sent to whom. */
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

/** A one-time link to one account, with its secret. */
export interface MailedLink extends Membership {
  readonly secret: string;
  readonly endsAt: Date;
}

/** A mail to one person, whom it reaches by their address. Its links are for people with the same address. */
export interface PersonalMail {
  /** The same at every attempt. */
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

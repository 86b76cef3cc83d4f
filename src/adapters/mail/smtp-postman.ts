import { createTransport, type Transporter } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport';
import { Postman, type OutgoingMail, type Posted } from '../../notifications/ports.ts';
import { renderMail, renderSummary } from './render-mail.ts';
import { postedBy } from './smtp-answer.ts';

interface Sender {
  /** An address, or `Name <address>`. */
  readonly from: string;
  /** Of the dashboard. */
  readonly origin: string;
}

/** A connection for each message: there are few, and an idle one may be dead. */
export class SmtpPostman extends Postman {
  readonly #transport: Transporter<SMTPTransport.SentMessageInfo>;
  readonly #sender: Sender;
  readonly #deadlineMs: number;

  /** @param deadlineMs of a whole message */
  constructor(options: SMTPTransport.Options, sender: Sender, deadlineMs = 60_000) {
    super();
    this.#transport = createTransport(options);
    this.#sender = sender;
    this.#deadlineMs = deadlineMs;
  }

  override async post(mail: OutgoingMail, signal: AbortSignal): Promise<Posted> {
    const deadline = AbortSignal.timeout(this.#deadlineMs);
    try {
      await this.#transport.sendMail({
        ...messageOf(mail, this.#sender),
        signal: AbortSignal.any([signal, deadline]),
      });
      return { kind: 'taken' };
    } catch (error) {
      if (signal.aborted) return { kind: 'failed', reason: 'This process was stopped meanwhile.' };
      return postedBy(error);
    }
  }
}

/** The text in both forms, and headers that let mail programs unsubscribe with one click (RFC 8058). */
const messageOf = (mail: OutgoingMail, { from, origin }: Sender) => {
  const { id, to, account, told, unsubscribeToken } = mail;
  const unsubscribeUrl = unsubscribeToken && unsubscribeUrlOf(origin, unsubscribeToken);
  const envelope = { account, origin, unsubscribeUrl };
  const [first, ...others] = told;
  if (!first) throw new Error('a message needs something to tell');
  const rendered =
    others.length === 0
      ? renderMail({ ...first, ...envelope })
      : renderSummary({ told, ...envelope });
  return {
    ...rendered,
    from,
    to: { name: '', address: to },
    messageId: messageIdOf(id, origin),
    headers: {
      // Answering machines are silent then (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': { prepared: true, foldLines: false, value: `<${unsubscribeUrl}>` },
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
  };
};

/** The same at each attempt (RFC 5322, section 3.6.4). */
const messageIdOf = (id: string, origin: string): string =>
  `<${id.replace(/[^\w.-]/g, '.')}@${new URL(origin).hostname}>`;

const unsubscribeUrlOf = (origin: string, token: string): string =>
  `${origin}/dashboard/unsubscribe?token=${token}`;

import { createTransport, type Transporter } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport';
import { Postman, type OutgoingMail, type Posted } from '../../notifications/ports.ts';
import { renderMail, renderSummary } from './mail-html.ts';

interface Sender {
  readonly from: string;
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

interface SmtpError {
  readonly code?: unknown;
  readonly command?: unknown;
  /** The number of the server's answer. */
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly message?: unknown;
}

const longest = 300;

/**
 * What a failure means for the message. A refusal for good (5xx, RFC 5321, section 4.2.1) counts only where the server speaks of
 * the address, its mailbox or the message: if it refuses us, our network, our password, our sender or how much we send, that is
 * no fault of the person.
 */
export const postedBy = (error: unknown): Posted => {
  const { code, command, responseCode, response, message } = error as SmtpError;
  const reason = shown(typeof response === 'string' ? response : String(message));
  const isForGood =
    typeof responseCode === 'number' &&
    responseCode >= 500 &&
    isOfPerson(command, responseCode, reason);
  const isNoAddress = code === 'EENVELOPE' && command === 'API';
  return { kind: isForGood || isNoAddress ? 'refused' : 'failed', reason };
};

/** Without an enhanced code (RFC 3463), only answers to RCPT TO that speak of the address or its mailbox count (RFC 5321, section 4.2.3). */
const isOfPerson = (command: unknown, code: number, reason: string): boolean => {
  if (command !== 'RCPT TO' && command !== 'DATA') return false;
  const enhanced = /^\d{3}[ -]5\.(\d{1,3}\.\d{1,3})\b/.exec(reason)?.[1];
  if (enhanced === undefined) return command === 'RCPT TO' && mailboxCodes.includes(code);
  return ofPerson.test(enhanced) && !ofSender.includes(enhanced);
};

const mailboxCodes: readonly number[] = [501, 550, 551, 552, 553];
/** The address, the mailbox, and the form of the message. */
const ofPerson = /^[126]\./;
const ofSender: readonly string[] = ['1.7', '1.8'];

/** On one line, without what could be mistaken for anything else. */
const shown = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, longest) || 'The mail server did not say why.';

const stepMs = 5000;

export interface ServerTrouble {
  readonly code: unknown;
  readonly reason: string;
}

/** Connects, begins TLS and signs in as for a message, and sends none. @returns what went wrong; undefined if nothing did */
export const tryServer = async (
  options: SMTPTransport.Options,
): Promise<ServerTrouble | undefined> => {
  const deadlines = { connectionTimeout: stepMs, greetingTimeout: stepMs, socketTimeout: stepMs };
  const transport = createTransport({ ...options, ...deadlines, dnsTimeout: stepMs });
  try {
    await transport.verify();
    return undefined;
  } catch (error) {
    const posted = postedBy(error);
    const reason = posted.kind === 'taken' ? '' : posted.reason;
    return { code: (error as { code?: unknown }).code, reason };
  } finally {
    transport.close();
  }
};

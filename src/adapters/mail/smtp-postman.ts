import { createTransport, type Transporter } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport';
import { Postman, type OutgoingMail, type Posted } from '../../notifications/ports.ts';
import { renderMail, renderSummary } from './mail-html.ts';

const second = 1000;

export const smtpOptions = (smtpUrl: string): SMTPTransport.Options => {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const secure = protocol === 'smtps:';
  const hasUser = username !== '';
  return {
    host,
    port: port === '' ? usualPort(secure, hasUser) : Number(port),
    secure,
    ...(!secure && encryption(hasUser, isThisMachine(host))),
    ...(hasUser && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    connectionTimeout: 10 * second,
    greetingTimeout: 10 * second,
    dnsTimeout: 10 * second,
    socketTimeout: 30 * second,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
};

const usualPort = (secure: boolean, hasUser: boolean): number => {
  if (secure) return 465;
  return hasUser ? 587 : 25;
};

/** Never sends a password unencrypted, except to this machine. */
const encryption = (hasUser: boolean, isHere: boolean): SMTPTransport.Options => {
  if (isHere) return { ignoreTLS: true };
  return hasUser ? { requireTLS: true } : { opportunisticTLS: true };
};

const isThisMachine = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);

export const shownServer = (smtpUrl: string): string => {
  const { hostname, port } = new URL(smtpUrl);
  return port === '' ? hostname : `${hostname}:${port}`;
};

interface Sender {
  readonly from: string;
  readonly origin: string;
}

/** Opens a connection for each message, because messages are few and an idle connection may be dead. */
export class SmtpPostman extends Postman {
  readonly #transport: Transporter<SMTPTransport.SentMessageInfo>;
  readonly #sender: Sender;
  readonly #deadlineMs: number;

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

const messageOf = (mail: OutgoingMail, { from, origin }: Sender) => {
  const { id, to, account, told, unsubscribeToken } = mail;
  const unsubscribeUrl = unsubscribeToken && unsubscribeUrlOf(origin, unsubscribeToken);
  const envelope = { account, origin, unsubscribeUrl };
  const [first, ...others] = told;
  if (!first) throw new Error('a message needs at least one notice');
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
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': { prepared: true, foldLines: false, value: `<${unsubscribeUrl}>` },
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
  };
};

/** Each attempt has the same id (RFC 5322, section 3.6.4). */
const messageIdOf = (id: string, origin: string): string =>
  `<${id.replace(/[^\w.-]/g, '.')}@${new URL(origin).hostname}>`;

const unsubscribeUrlOf = (origin: string, token: string): string =>
  `${origin}/dashboard/unsubscribe?token=${token}`;

interface SmtpError {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly message?: unknown;
}

const longest = 300;

/** A 5xx reply (RFC 5321, section 4.2.1) is permanent only if it is about the recipient or the message. */
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

/** Without an enhanced code (RFC 3463), only replies to RCPT TO count (RFC 5321, section 4.2.3). */
const isOfPerson = (command: unknown, code: number, reason: string): boolean => {
  if (command !== 'RCPT TO' && command !== 'DATA') return false;
  const enhanced = /^\d{3}[ -]5\.(\d{1,3}\.\d{1,3})\b/.exec(reason)?.[1];
  if (enhanced === undefined) return command === 'RCPT TO' && mailboxCodes.includes(code);
  return ofPerson.test(enhanced) && !ofSender.includes(enhanced);
};

const mailboxCodes: readonly number[] = [501, 550, 551, 552, 553];
const ofPerson = /^[126]\./;
const ofSender: readonly string[] = ['1.7', '1.8'];

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

/** Connects, starts TLS and signs in, but sends no message. @returns undefined if it works */
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

import type { Posted } from '../../notifications/ports.ts';

interface SmtpError {
  readonly code?: unknown;
  readonly command?: unknown;
  /** The number of the server's answer. */
  readonly responseCode?: unknown;
  /** The server's answer. */
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
/** The address of the sender. */
const ofSender: readonly string[] = ['1.7', '1.8'];

/** On one line, without what could be mistaken for anything else. */
const shown = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, longest) || 'The mail server did not say why.';

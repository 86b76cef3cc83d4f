import { createTransport } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport';
import { postedBy } from './smtp-answer.ts';

const stepMs = 5000;

export interface ServerTrouble {
  /** As nodemailer names it. */
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

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** A mail as it arrived. */
export interface Received {
  readonly to: readonly string[];
  readonly source: string;
  readonly parsed: Email;
}

export interface MailServer {
  /** For `SMTP_URL`. */
  readonly smtpUrl: string;
  /** The oldest first. */
  readonly received: readonly Received[];
  close(): Promise<void>;
}

/** Takes every mail, for any address, and delivers none. Keeps the last ones. */
export const startMailServer = async (kept = 500): Promise<MailServer> => {
  const received: Received[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onData: (stream, { envelope }, done) => {
      const take = async () => {
        const source = await buffer(stream);
        const to = envelope.rcptTo.map(({ address }) => address);
        received.push({ to, source: source.toString(), parsed: await PostalMime.parse(source) });
        received.splice(0, received.length - kept);
      };
      take().then(() => done(), done);
    },
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    smtpUrl: `smtp://127.0.0.1:${port}`,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
};

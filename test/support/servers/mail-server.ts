import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** The server's answer if it refuses a message. */
export interface Refusal {
  readonly at: 'RCPT' | 'DATA' | 'MAIL';
  /** For example, 451 or 550. */
  readonly code: number;
  readonly text: string;
}

export interface MailServerOptions extends SMTPServerOptions {
  /** Called for each recipient. After `hang`, the message never gets an answer. */
  readonly answer?: (to: string) => Refusal | 'hang' | undefined;
}

export interface TakenMail extends Email {
  /** As it arrived. */
  readonly source: string;
}

/** A real SMTP server on loopback that keeps the messages that it took. */
export class MailServer {
  readonly taken: TakenMail[];
  readonly port: number;
  readonly #server: SMTPServer;

  private constructor(server: SMTPServer, port: number, taken: TakenMail[]) {
    this.#server = server;
    this.port = port;
    this.taken = taken;
  }

  static async start({ answer, ...options }: MailServerOptions = {}): Promise<MailServer> {
    const taken: TakenMail[] = [];
    const refusing = (to: string, at: Refusal['at']): Error | undefined => {
      const refusal = answer?.(to);
      if (refusal === undefined || refusal === 'hang' || refusal.at !== at) return undefined;
      return Object.assign(new Error(refusal.text), { responseCode: refusal.code });
    };
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      closeTimeout: 100,
      disableReverseLookup: true,
      onMailFrom: ({ address }, _session, done) => {
        done(refusing(address, 'MAIL'));
      },
      onRcptTo: ({ address }, _session, done) => {
        done(refusing(address, 'RCPT'));
      },
      onData: (stream, session, done) => {
        const take = (mail: TakenMail): void => {
          const to = session.envelope.rcptTo[0]?.address ?? '';
          if (answer?.(to) === 'hang') return;
          const refused = refusing(to, 'DATA');
          if (!refused) taken.push(mail);
          done(refused);
        };
        // The client was killed before the end of the message.
        buffer(stream)
          .then(async (source) => ({ ...(await PostalMime.parse(source)), source: String(source) }))
          .then(take, () => undefined);
      },
      ...options,
    });
    // Some tests break connections off.
    server.on('error', () => undefined);
    const listening = server.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    return new MailServer(server, (listening.address() as AddressInfo).port, taken);
  }

  get connections(): number {
    return this.#server.connections.size;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  /** The Message-IDs of the messages that it took, in order. */
  get messageIds(): readonly (string | undefined)[] {
    return this.taken.map(({ messageId }) => messageId);
  }

  async stop(): Promise<void> {
    await new Promise<void>((done) => {
      this.#server.close(done);
    });
  }
}

/** Accepts connections and sends nothing. */
export class SilentServer {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(): Promise<SilentServer> {
    const server = createServer((socket) => socket.on('error', () => undefined));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SilentServer(server);
  }

  stop(): void {
    this.#server.close();
  }
}

/** A port where nobody listens. */
export const closedPort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

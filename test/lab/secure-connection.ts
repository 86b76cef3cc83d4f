import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';

/** What a browser keeps of a connection to come back faster. */
export interface TlsSession {
  readonly version: 'TLSv1.2' | 'TLSv1.3';
  /** Undefined where the server gave none. */
  readonly ticket: Buffer | undefined;
}

/** One connection for one host, for as many requests as there are. */
export class SecureConnection {
  readonly #socket: TLSSocket;
  readonly #host: string;
  #session: TlsSession;

  constructor(host: string, { version, ticket }: TlsSession, options: ConnectionOptions) {
    this.#host = host;
    this.#session = { version, ticket: undefined };
    this.#socket = connect({
      ...options,
      ...{ servername: host, minVersion: version, maxVersion: version },
      ...(ticket && { session: ticket }),
    });
    this.#socket.on('session', (its: Buffer) => (this.#session = { version, ticket: its }));
    // The client sees that it is closed.
    this.#socket.on('error', () => undefined);
  }

  /** To go on with, once it was asked something. */
  get session(): TlsSession {
    return this.#session;
  }

  /** @returns the status line; '' when the connection is closed instead */
  async ask(): Promise<string> {
    const socket = this.#socket;
    let answer = '';
    const whole = new Promise<void>((resolve) => {
      if (socket.closed) resolve();
      socket.on('close', resolve).on('data', (bytes: Buffer) => {
        answer += bytes.toString();
        if (answer.includes('\r\n\r\n')) resolve();
      });
    });
    socket.write(`HEAD / HTTP/1.1\r\nHost: ${this.#host}\r\n\r\n`);
    await whole;
    return answer.split('\r\n', 1)[0] ?? '';
  }

  close(): void {
    this.#socket.destroy();
  }
}

import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

/** A browser's session data for a faster handshake. */
interface TlsSession {
  readonly version: 'TLSv1.2' | 'TLSv1.3';
  /** Undefined if the server sent none. */
  readonly ticket: Buffer | undefined;
}

/** A connection for one host and any number of requests. */
export class SecureConnection {
  readonly #socket: TLSSocket;
  readonly #host: string;
  #session: TlsSession;

  constructor(host: string, { version, ticket }: TlsSession, options: ConnectionOptions) {
    this.#host = host;
    this.#session = { version, ticket: undefined };
    this.#socket = connect({
      ...options,
      servername: host,
      minVersion: version,
      maxVersion: version,
      ...(ticket && { session: ticket }),
    });
    this.#socket.on('session', (its: Buffer) => (this.#session = { version, ticket: its }));
    this.#socket.on('error', () => undefined);
  }

  /** Data for resuming the session, available after a request. */
  get session(): TlsSession {
    return this.#session;
  }

  /** @returns the status line; '' if the connection is closed instead */
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

export interface Visit {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly serial: string;
  readonly notAfter: Date;
}

/** The part of `refusal` for a host that is not served (RFC 6066, section 3). */
export const unrecognizedName = 'alert 112';

/**
 * Visits hosts over HTTPS on 127.0.0.1, trusts one authority, and checks dates and names like a browser.
 */
export class SecureVisitor {
  readonly #place: { readonly host: string; readonly port: number; readonly ca: string };

  /** @param root PEM */
  constructor(port: number, root: string) {
    this.#place = { host: '127.0.0.1', port, ca: root };
  }

  /** Uses a new connection. */
  get(host: string, path = '/', more: Readonly<Record<string, string>> = {}): Promise<Visit> {
    const headers = { ...more, host };
    const options = { ...this.#place, servername: host, path, agent: false, headers };
    return new Promise((resolve, reject) => {
      request(options, (answer) => {
        const certificate = (answer.socket as TLSSocket).getPeerCertificate();
        const { statusCode: status = 0, headers } = answer;
        const notAfter = new Date(certificate.valid_to);
        text(answer).then((body) => {
          resolve({ status, headers, body, serial: certificate.serialNumber, notAfter });
        }, reject);
      })
        .on('error', reject)
        .end();
    });
  }

  /** @returns the obstacle of a visit: a TLS alert or a system error; undefined if there is an answer */
  refusal(host: string): Promise<string | undefined> {
    return this.get(host).then(
      () => undefined,
      (error: unknown) => {
        const { code = '', message } = error as NodeJS.ErrnoException;
        const [, alert] = /SSL alert number (\d+)/.exec(message) ?? [];
        return alert === undefined ? code : `alert ${alert}`;
      },
    );
  }

  open(host: string, version: TlsSession['version']): SecureConnection {
    return this.resume(host, { version, ticket: undefined });
  }

  /** Resumes an earlier session. */
  resume(host: string, session: TlsSession): SecureConnection {
    return new SecureConnection(host, session, this.#place);
  }
}

import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { Resolver } from 'node:dns/promises';

/** What a browser keeps of a connection to come back faster. */
interface TlsSession {
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

export interface Visit {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Of the certificate. */
  readonly serial: string;
  readonly notAfter: Date;
}

/** What `refusal` says of a host that is not served (RFC 6066, section 3). */
export const unrecognizedName = 'alert 112';

/** Comes to hosts over HTTPS on 127.0.0.1, trusts one authority, and looks at dates and names as browsers do. */
export class SecureVisitor {
  readonly #place: { readonly host: string; readonly port: number; readonly ca: string };

  /** @param root PEM */
  constructor(port: number, root: string) {
    this.#place = { host: '127.0.0.1', port, ca: root };
  }

  /** Over a connection of its own. */
  get(host: string, path = '/', more: Readonly<Record<string, string>> = {}): Promise<Visit> {
    const headers = { ...more, host };
    const options = { ...this.#place, servername: host, path, agent: false, headers };
    return new Promise((resolve, reject) => {
      request(options, (answer) => {
        // Asked now: afterwards the connection may be gone.
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

  /** @returns what is in the way of a visit: an alert of TLS or what the system says; undefined when there is an answer */
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

  /** Comes back with what it kept of an earlier connection. */
  resume(host: string, session: TlsSession): SecureConnection {
    return new SecureConnection(host, session, this.#place);
  }
}

interface Destination {
  readonly host: string;
  readonly port: number;
  /** As `ip:port`. */
  readonly resolver: string;
  /** PEM, those that the visitors trust. */
  readonly roots: readonly string[];
}

/** New visitors of one host again and again: each looks its address up, connects, and reads the page. */
export class SteadyVisitors {
  readonly #to: Destination;
  readonly #resolver = new Resolver({ timeout: 5_000, tries: 2 });
  readonly #timer: NodeJS.Timeout;
  readonly #underWay = new Set<Promise<void>>();
  readonly #pages: string[] = [];

  constructor(to: Destination, everyMs: number) {
    this.#to = to;
    this.#resolver.setServers([to.resolver]);
    this.#timer = setInterval(() => {
      this.#come();
    }, everyMs);
  }

  /** What each got, in the order in which they came: a page, or what went wrong. */
  get pages(): readonly string[] {
    return this.#pages;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
  }

  #come(): void {
    const place = this.#pages.push('on the way') - 1;
    const visit = this.#visit().then(
      (page) => void (this.#pages[place] = page),
      (error: unknown) => void (this.#pages[place] = String(error)),
    );
    this.#underWay.add(visit);
    void visit.finally(() => this.#underWay.delete(visit));
  }

  async #visit(): Promise<string> {
    const { host, port, roots } = this.#to;
    const [address = ''] = await this.#resolver.resolve4(host);
    const options = { servername: host, ca: [...roots], agent: false, headers: { host } };
    return new Promise((resolve, reject) => {
      request({ ...options, host: address, port }, (answer) => {
        text(answer).then((page) => {
          resolve(answer.statusCode === 200 ? page : `status ${String(answer.statusCode)}`);
        }, reject);
      })
        .on('error', reject)
        .end();
    });
  }
}

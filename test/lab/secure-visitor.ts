import { request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { SecureConnection, type TlsSession } from './secure-connection.ts';

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

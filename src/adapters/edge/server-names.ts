import type { SecureContext, TLSSocket } from 'node:tls';
import type { CertificateShelf } from './certificate-shelf.ts';
import type { EdgeConnections } from './edge-connections.ts';
import type { RouteTable } from './route-table.ts';

type Callback = (error: Error | null, context?: SecureContext) => void;

/** A fatal alert `unrecognized_name` in the clear, as before any handshake (RFC 8446, section 6; RFC 6066, section 3). */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

interface ServerNamePorts {
  readonly routes: Pick<RouteTable, 'nameFor'>;
  readonly certificates: CertificateShelf;
  /** Knows the connection below. */
  readonly connections: Pick<EdgeConnections, 'below'>;
}

/**
 * Chooses the certificate of a new connection. There is no default one: a name that is not served is refused with
 * its own alert. Node can only drop the connection there, so the alert is written on the connection below.
 */
export const serverNames = ({ routes, certificates, connections }: ServerNamePorts) =>
  // TLS calls it as a method of the socket.
  function (this: unknown, host: string, done: Callback): void {
    const name = routes.nameFor(host.toLowerCase());
    const context = name === undefined ? undefined : certificates.find(name);
    const line = connections.below(this as TLSSocket);
    if (!line) {
      done(new Error('the connection ended'));
      return;
    }
    if (context) {
      line.servedAs = name;
      done(null, context);
      return;
    }
    // `done` is not called: the handshake ends here, with the connection.
    line.socket.write(unrecognizedName);
    line.socket.destroySoon();
  };

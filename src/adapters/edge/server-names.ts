import type { SecureContext, TLSSocket } from 'node:tls';
import type { CertificateShelf } from './certificate-shelf.ts';
import type { EdgeConnections } from './edge-connections.ts';

type Callback = (error: Error | null, context?: SecureContext) => void;

/** A fatal alert `unrecognized_name` in the clear, as before any handshake (RFC 8446, section 6; RFC 6066, section 3). */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * Chooses the certificate of a new connection. There is no default one: a name that is not served is refused with
 * its own alert. Node can only drop the connection there, so the alert is written on the connection below.
 * @param connections knows the connection below
 */
export const serverNames = (
  certificates: CertificateShelf,
  connections: Pick<EdgeConnections, 'from'>,
) =>
  // TLS calls it as a method of the socket.
  function (this: unknown, name: string, done: Callback): void {
    const context = certificates.find(name.toLowerCase());
    if (context) {
      done(null, context);
      return;
    }
    const socket = connections.from(this as TLSSocket);
    if (!socket) {
      done(new Error('unrecognized name'));
      return;
    }
    // `done` is not called: the handshake ends here, with the connection.
    socket.write(unrecognizedName);
    socket.destroySoon();
  };

import { constants } from 'node:crypto';

/**
 * For the server and the context of each host. No session is resumed: with ECDSA keys a resumed handshake costs the
 * server as much as a full one (docs/performance.md), and it would not ask for the host's certificate again.
 */
export const tlsOptions = {
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_TICKET,
} as const;
